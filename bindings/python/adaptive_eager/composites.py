"""Choices by device that PyTorch makes in Python: `neuron` gets the CPU's. Those that it makes in C++ are in
bindings/torch/composites.h.
"""
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.modules.linear_cross_entropy_options import LinearCrossEntropyOptions

from adaptive_eager.device import NAME
from adaptive_eager.replace import replace


def choose_as_on_cpu() -> None:
    """Applies all patches of this file."""
    chunked_loss_has_the_same_options()
    interpolation_has_the_same_kernels()
    nested_tensors_are_refused_early()


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


def _is_ours(device: Any) -> bool:
    """Whether an argument is a device, as an object or as text, and ours."""
    return isinstance(device, (torch.device, str)) and torch.device(device).type == NAME
