"""Memory of the device: statistics, limits and the cache. A tensor is counted from the call that makes it."""
from collections import OrderedDict
from typing import Any

import torch
from torch.accelerator import memory

from adaptive_eager import _C
from adaptive_eager.device import index_of

_MIB = 1 << 20
_fractions: dict[int, float] = {}


def empty_cache() -> None:
    """Gives memory back that is kept for reuse but not in use."""
    memory.empty_cache()


def empty_host_cache() -> None:
    """The same for pinned host memory."""
    memory.empty_host_cache()


def memory_stats(device: torch.types.Device = None) -> OrderedDict[str, Any]:
    """All statistics of a device by name, as torch.accelerator.memory_stats."""
    return memory.memory_stats(index_of(device))


def memory_allocated(device: torch.types.Device = None) -> int:
    """Bytes that tensors occupy."""
    return memory.memory_allocated(index_of(device))


def max_memory_allocated(device: torch.types.Device = None) -> int:
    """The most bytes that tensors occupied since the start or the last reset of the peaks."""
    return memory.max_memory_allocated(index_of(device))


def memory_reserved(device: torch.types.Device = None) -> int:
    """Bytes that the device holds for tensors: in use, or kept for reuse."""
    return memory.memory_reserved(index_of(device))


def max_memory_reserved(device: torch.types.Device = None) -> int:
    """The most bytes that were held since the start or the last reset of the peaks."""
    return memory.max_memory_reserved(index_of(device))


def reset_peak_memory_stats(device: torch.types.Device = None) -> None:
    """Sets the peaks back to what is in use now."""
    memory.reset_peak_memory_stats(index_of(device))


def reset_accumulated_memory_stats(device: torch.types.Device = None) -> None:
    """Sets the totals of allocated and freed bytes back to zero."""
    memory.reset_accumulated_memory_stats(index_of(device))


def reset_max_memory_allocated(device: torch.types.Device = None) -> None:
    """The older name of reset_peak_memory_stats."""
    reset_peak_memory_stats(device)


def mem_get_info(device: torch.types.Device = None) -> tuple[int, int]:
    """Free and total bytes of a device. A limit set for this process changes neither."""
    return memory.get_memory_info(index_of(device))


get_memory_info = mem_get_info


def set_per_process_memory_fraction(fraction: float, device: torch.types.Device = None) -> None:
    """Limits this process to a part of a device's memory; above it calls raise torch.OutOfMemoryError."""
    fraction = float(fraction)
    if not 0.0 <= fraction <= 1.0:
        raise ValueError(f"memory fraction must be between 0 and 1, but got: {fraction}")
    index = index_of(device)
    _C.set_limit(int(fraction * mem_get_info(index)[1]), index)
    _fractions[index] = fraction


def get_per_process_memory_fraction(device: torch.types.Device = None) -> float:
    """The part of a device's memory that this process is limited to."""
    return _fractions.get(index_of(device), 1.0)


def memory_summary(device: torch.types.Device = None, abbreviated: bool = False) -> str:
    """A table of the main statistics for people; abbreviated leaves the counts of blocks out."""
    index = index_of(device)
    stats = memory_stats(index)
    rows = [("tensors", "allocated_bytes", _MIB), ("in use by the device", "active_bytes", _MIB)]
    rows += [("reserved", "reserved_bytes", _MIB)]
    if not abbreviated:
        rows += [("tensors, count", "allocation", 1)]
    free, total = mem_get_info(index)
    columns = ("current", "peak", "allocated", "freed")
    lines = [
        f"memory of neuron:{index} in MiB: {free / _MIB:,.1f} free of {total / _MIB:,.1f}",
        f"{'':22}" + "".join(f"{column:>14}" for column in columns),
    ]
    for title, prefix, unit in rows:
        values = (stats.get(f"{prefix}.all.{column}", 0) for column in columns)
        lines.append(f"{title:22}" + "".join(f"{v:14,}" if unit == 1 else f"{v / unit:14,.1f}" for v in values))
    lines.append(f"out of memory: {stats.get('num_ooms', 0)}; retries: {stats.get('num_alloc_retries', 0)}")
    return "\n".join(lines)
