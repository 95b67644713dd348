"""The typed storages of old, torch.neuron.FloatStorage and so on, which PyTorch keeps for old programs and files."""
from typing import Any

import torch
from torch._utils import classproperty
from torch.storage import _LegacyStorage, _warn_typed_storage_removal

from adaptive_eager import neuron

DTYPES = {
    "BFloat16Storage": torch.bfloat16,
    "BoolStorage": torch.bool,
    "ByteStorage": torch.uint8,
    "CharStorage": torch.int8,
    "ComplexDoubleStorage": torch.complex128,
    "ComplexFloatStorage": torch.complex64,
    "DoubleStorage": torch.float64,
    "FloatStorage": torch.float32,
    "HalfStorage": torch.float16,
    "IntStorage": torch.int32,
    "LongStorage": torch.int64,
    "ShortStorage": torch.int16,
}


class _NeuronStorage(_LegacyStorage):
    """What the typed storages have in common: they are made on the device, never from host memory."""

    @classproperty
    def dtype(self) -> torch.dtype:
        _warn_typed_storage_removal()
        return self._dtype

    @classmethod
    def from_buffer(cls, *args: Any, **kwargs: Any) -> None:
        _warn_typed_storage_removal()
        raise RuntimeError("from_buffer: Not available for neuron storage")

    @classmethod
    def _new_with_weak_ptr(cls, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("_new_with_weak_ptr: Not available for neuron storage")

    @classmethod
    def _new_shared_filename(cls, manager: Any, obj: Any, size: int, *, device: Any = None, dtype: Any = None) -> None:
        raise RuntimeError("_new_shared_filename: Not available for neuron storage")


def register() -> None:
    """Makes one class a dtype. PyTorch reads a storage's device from the last part of its class's module."""
    for name, dtype in DTYPES.items():
        storage = type(name, (_NeuronStorage,), {"__module__": "torch.neuron", "_dtype": dtype})
        setattr(neuron, name, storage)
        torch._storage_classes.add(storage)
