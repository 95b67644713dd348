"""What PyTorch does not let a device from outside say, said by replacing a few of its functions.

Every patch is small, can be applied twice, leaves other devices alone, and is listed with its reason in
docs/patches.md. Switches that kernels read while they run are in switches.py.
"""
from collections.abc import Callable
from typing import Any

import torch
from torch.optim.optimizer import _get_capturable_supported_devices
from torch.utils import _foreach_utils

from adaptive_eager import composites, switches
from adaptive_eager.device import NAME
from adaptive_eager.replace import replace


def apply() -> None:
    """Applies all patches."""
    optimizers_choose_as_on_cpu()
    printing_copies_first()
    dlpack_refuses()
    composites.choose_as_on_cpu()
    switches.synchronize_before_each()


def optimizers_choose_as_on_cpu() -> None:
    """PyTorch takes every outside device for one with fast multi-tensor kernels, and then prefers them.

    They give other bits than the CPU's default, one tensor at a time. The functions are imported by value all over
    torch.optim, so their code is exchanged instead: it runs with the globals of PyTorch's module. What a caller asks
    for (`foreach=True`, `fused=True`, `capturable=True`) works or is refused as on the CPU, and gradient clipping,
    which uses multi-tensor kernels on the CPU, uses them here.
    """

    def foreach_devices() -> list[str]:
        return ["cuda", "xpu", "mtia"]

    def device_has_foreach(device: torch.device) -> bool:
        here = ["cpu", torch._C._get_privateuse1_backend_name()]
        return device.type in _get_foreach_kernels_supported_devices() + here and not torch.jit.is_scripting()

    def capturable_devices(supports_xla: bool = True) -> list[str]:
        return ["cuda", "xpu", "hpu", "xla"] if supports_xla else ["cuda", "xpu", "hpu"]

    _foreach_utils._get_foreach_kernels_supported_devices.__code__ = foreach_devices.__code__
    _foreach_utils._device_has_foreach_support.__code__ = device_has_foreach.__code__
    _get_capturable_supported_devices.__code__ = capturable_devices.__code__


def printing_copies_first() -> None:
    """Printing computes on the tensor's device: dozens of launches for a few numbers. One copy does."""

    def make(original: Callable) -> Callable:
        def _tensor_str(self: torch.Tensor, indent: int) -> str:
            return original(self.cpu() if self.device.type == NAME else self, indent)

        return _tensor_str

    replace(torch._tensor_str, "_tensor_str", make)


def dlpack_refuses() -> None:
    """DLPack would hand out an address that no one else can read. A copy on the CPU can be exported, if asked for."""
    from torch.utils import dlpack

    host = int(dlpack.DLDeviceType.kDLCPU)

    def make(original: Callable) -> Callable:
        def to_dlpack(tensor: torch.Tensor, *, dl_device: Any = None, copy: bool | None = None) -> Any:
            if tensor.device.type != NAME:
                return original(tensor, dl_device=dl_device, copy=copy)
            if dl_device is not None and int(dl_device[0]) == host and copy is not False:
                return original(tensor.cpu(), dl_device=dl_device)
            raise BufferError(
                f"Can't export a {NAME} tensor through DLPack: its memory is out of the host's reach. "
                "Use Tensor.cpu() to copy the tensor to host memory first."
            )

        return to_dlpack

    replace(torch._C, "_to_dlpack", make)
    replace(torch._C, "_to_dlpack_versioned", make)
    torch.to_dlpack = dlpack.to_dlpack = torch._C._to_dlpack

    def make_device(original: Callable) -> Callable:
        def __dlpack_device__(self: torch.Tensor) -> tuple[dlpack.DLDeviceType, int]:
            if self.device.type == NAME:
                return dlpack.DLDeviceType.kDLExtDev, self.device.index
            return original(self)

        return __dlpack_device__

    replace(torch.Tensor, "__dlpack_device__", make_device)
