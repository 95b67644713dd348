"""Global switches of PyTorch that kernels read while they run.

Recorded work runs later than the call that recorded it. A switch is thrown only after all recorded work has run, so
that every op runs under the switches of its own call.
"""
from collections.abc import Callable
from typing import Any

import torch

from adaptive_eager import _C, lifecycle
from adaptive_eager.replace import replace

# Functions of torch._C through which all public setters go. Not here: what PyTorch reads when an op is called
# (gradient and autocast modes) or only for other devices (cuDNN, cuBLAS).
SETTERS = (
    "_set_default_dtype",
    "_set_default_tensor_type",
    "_set_deterministic_algorithms",
    "_set_deterministic_fill_uninitialized_memory",
    "_set_float32_matmul_precision",
    "_set_fp32_precision_setter",
    "_set_mkldnn_enabled",
    "_set_mkldnn_deterministic",
    "_set_onednn_allow_tf32",
    "_set_nnpack_enabled",
    "_set_cpu_allow_fp16_reduced_precision_reduction",
    "_set_math_sdp_allow_fp16_bf16_reduction",
    "_set_sdp_priority_order",
    "_set_sdp_use_flash",
    "_set_sdp_use_math",
    "_set_sdp_use_mem_efficient",
    "_set_sdp_use_overrideable",
    "_set_qengine",
    "_set_warnAlways",
    "set_flush_denormal",
    "set_num_threads",
)


def synchronize_before_each() -> None:
    """Makes every switch wait for recorded work before it changes anything."""
    for name in SETTERS:
        original = getattr(torch._C, name, None)
        if original is None:
            continue
        replace(torch._C, name, _waiting)
        _rebind(original, getattr(torch._C, name))


def _waiting(setter: Callable) -> Callable:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            _finish_recorded_work()
        finally:  # an error of earlier work is raised here, but the switch is thrown: `with` blocks must restore it
            result = setter(*args, **kwargs)
        return result

    return wrapper


def _finish_recorded_work() -> None:
    """Waits for all devices; does nothing if none has been used, or in a forked child."""
    if lifecycle.is_initialized():
        for index in range(_C.device_count()):
            _C.synchronize(index)


def _rebind(original: Callable, replacement: Callable) -> None:
    """Exchanges the copies of a setter that PyTorch made when it was imported: in `torch`, and in its properties."""
    name = original.__name__
    if getattr(torch, name, None) is original:
        setattr(torch, name, replacement)
    for prop in vars(type(torch.backends.mkldnn)).values():
        if isinstance(prop, torch.backends.ContextProp) and prop.setter is original:
            prop.setter = replacement
