"""Choices by device that PyTorch makes in Python: `neuron` gets the CPU's. Those that it makes in C++ are in
bindings/torch/composites.h.
"""
import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.modules.linear_cross_entropy_options import LinearCrossEntropyOptions
from torch.utils._pytree import tree_map_only

from adaptive_eager.device import NAME
from adaptive_eager.replace import replace


def choose_as_on_cpu() -> None:
    """Applies all patches of this file."""
    chunked_loss_has_the_same_options()
    interpolation_has_the_same_kernels()
    nested_tensors_are_refused_early()
    jagged_attention_runs_on_the_host()
    autocast_has_the_same_type()


def chunked_loss_has_the_same_options() -> None:
    """F.linear_cross_entropy looks up its chunk size and accumulation type by device; both change the bits."""

    def make(original: Callable) -> Callable:
        def _adjust(self: Any, *args: Any, device: torch.device | None = None, **kwargs: Any) -> Any:
            here = device is not None and device.type == NAME
            return original(self, *args, device=torch.device("cpu") if here else device, **kwargs)

        return _adjust

    replace(LinearCrossEntropyOptions, "_adjust", make)


def interpolation_has_the_same_kernels() -> None:
    """Under deterministic algorithms F.interpolate decomposes on every device but the CPU, whose kernels are
    deterministic; ours are the CPU's.
    """
    from torch._decomp import decompositions

    def make(original: Callable) -> Callable:
        def _upsample_linear_vec(input: torch.Tensor, *args: Any) -> torch.Tensor:
            if input.device.type != NAME:
                return original(input, *args)
            kernels = torch._C._nn
            return (kernels.upsample_bilinear2d if input.dim() == 4 else kernels.upsample_trilinear3d)(input, *args)

        return _upsample_linear_vec

    replace(decompositions, "_upsample_linear_vec", make)


def nested_tensors_are_refused_early() -> None:
    """The extension refuses to make nested tensors out of the device's tensors; here, out of the host's."""

    def make(original: Callable) -> Callable:
        def nested_tensor(*args: Any, **kwargs: Any) -> torch.Tensor:
            asked = [kwargs.get("device"), *args]
            if any(_is_ours(one) for one in asked):
                raise NotImplementedError(
                    f"the device {NAME} has no nested (the layout torch.jagged works) tensors; make them on the CPU"
                )
            return original(*args, **kwargs)

        return nested_tensor

    replace(torch._C._nested, "nested_tensor", make)
    replace(torch, "_nested_tensor_from_tensor_list", make)


def jagged_attention_runs_on_the_host() -> None:
    """On the CPU attention over jagged tensors goes through nested ones, which the device refuses. Copies there and
    back are differentiable and have the CPU's bits.
    """
    from torch.nested._internal.nested_tensor import NestedTensor

    original = NestedTensor.__torch_function__.__func__
    attention = torch._C._nn.scaled_dot_product_attention
    if hasattr(original, "_replaced_by_adaptive_eager"):
        return

    @functools.wraps(original)
    def __torch_function__(cls: type, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        values = (*args, *(kwargs or {}).values())
        if func is not attention or values[0].device.type != NAME:
            return original(cls, func, types, args, kwargs)
        args, kwargs = tree_map_only(torch.Tensor, torch.Tensor.cpu, (args, kwargs or {}))
        return func(*args, **kwargs).to(values[0].device)

    __torch_function__._replaced_by_adaptive_eager = True
    NestedTensor.__torch_function__ = classmethod(__torch_function__)


def autocast_has_the_same_type() -> None:
    """torch.autocast("neuron") without a type takes the CPU's: PyTorch's own for a device from outside is float16."""

    def make(original: Callable) -> Callable:
        def __init__(self: Any, device_type: str, dtype: torch.dtype | None = None, *args: Any, **kwargs: Any) -> None:
            if dtype is None and device_type == NAME and not torch.is_autocast_enabled(NAME):
                dtype = torch.get_autocast_dtype("cpu")
            original(self, device_type, dtype, *args, **kwargs)

        return __init__

    replace(torch.amp.autocast_mode.autocast, "__init__", make)


def _is_ours(device: Any) -> bool:
    """Whether an argument is a device, as an object or as text, and ours."""
    return isinstance(device, (torch.device, str)) and torch.device(device).type == NAME
