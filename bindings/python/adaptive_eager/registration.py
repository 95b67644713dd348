"""Registers the device `neuron` with PyTorch: its name, its module `torch.neuron`, its methods, and our patches."""
import sys

import torch

from adaptive_eager import lifecycle, neuron, patches, storages
from adaptive_eager.device import NAME

# Modules that programs import by name, as they do with torch.cuda.memory.
SUBMODULES = ("amp", "memory", "random", "streams")


def register() -> None:
    """Does everything; called once in a process."""
    torch.utils.rename_privateuse1_backend(NAME)
    torch._register_device_module(NAME, neuron)
    for name in SUBMODULES:
        sys.modules[f"torch.{NAME}.{name}"] = getattr(neuron, name)
    # Tensor.neuron(), Tensor.is_neuron, Module.neuron() and the same for packed sequences and storages.
    torch.utils.generate_methods_for_privateuse1_backend(
        for_tensor=True, for_module=True, for_packed_sequence=True, for_storage=True
    )
    storages.register()
    patches.apply()
    lifecycle.register_exit()
