"""`torch.neuron`: what programs call. Each idea has its own module; this one only gathers them."""
from types import SimpleNamespace

from adaptive_eager import amp, memory, random, streams
from adaptive_eager.adaptive import adaptive_eager, is_adaptive, mark_step
from adaptive_eager.amp import get_amp_supported_dtype, is_bf16_supported
from adaptive_eager.device import (
    DeviceProperties,
    current_device,
    device,
    device_count,
    device_of,
    exchange_device as _exchange_device,
    get_device_capability,
    get_device_name,
    get_device_properties,
    index_of as _index_of,
    is_available,
    set_device,
)
from adaptive_eager.lifecycle import _initialized, _is_in_bad_fork, _lazy_call, _lazy_init, init, is_initialized
from adaptive_eager.memory import (
    empty_cache,
    empty_host_cache,
    get_memory_info,
    get_per_process_memory_fraction,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
)
from adaptive_eager.metrics import Report, dump_trace, explain, metrics, reset_metrics
from adaptive_eager.random import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from adaptive_eager.streams import (
    Event,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    is_current_stream_capturing,
    set_stream,
    stream,
    synchronize,
)

# Names that parts of PyTorch look for in a device's module.
_maybe_exchange_device = _exchange_device
_utils = SimpleNamespace(_get_device_index=_index_of)


def __getattr__(name: str):
    """The generators are the extension's objects: looked up when asked for, so that importing starts nothing."""
    if name == "default_generators":
        return random.default_generators()
    raise AttributeError(f"module 'torch.neuron' has no attribute '{name}'")
