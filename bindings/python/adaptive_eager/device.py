"""Devices: how many there are, which one is current, what they can do."""
from dataclasses import dataclass
from typing import Any

import torch

from adaptive_eager import _C

NAME = "neuron"


def index_of(device: torch.types.Device = None, optional: bool = True) -> int:
    """The index that a device, a string such as "neuron:1" or a number means; without an index, the current device."""
    if isinstance(device, int):
        return device
    if isinstance(device, str):
        device = torch.device(device)
    if isinstance(device, torch.device):
        if device.type != NAME:
            raise ValueError(f"expected a {NAME} device, but got: {device}")
        if device.index is not None:
            return device.index
    if not optional:
        raise ValueError(f"expected a {NAME} device with an index, but got: {device}")
    return _C.current_device()


def is_available() -> bool:
    """Whether there is a device. Starts nothing."""
    return _C.is_available()


def device_count() -> int:
    """The number of devices. Starts nothing."""
    return _C.device_count()


def current_device() -> int:
    """The index of this thread's current device."""
    return _C.current_device()


def set_device(device: torch.types.Device) -> None:
    """Makes a device this thread's current one. A negative index changes nothing."""
    index = index_of(device)
    if index >= 0:
        _C.set_device(index)


class device:
    """Context manager that makes a device the current one; a negative index changes nothing."""

    def __init__(self, device: torch.types.Device) -> None:
        self.idx = index_of(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx = exchange_device(self.idx)

    def __exit__(self, *exception: object) -> None:
        exchange_device(self.prev_idx)


class device_of(device):
    """Context manager that makes the device of a tensor or storage the current one, if it lives on `neuron`."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_neuron else -1)


def exchange_device(index: int) -> int:
    """Makes a device current and returns the previous one; for a negative index does nothing and returns -1."""
    if index < 0:
        return -1
    previous = _C.current_device()
    _C.set_device(index)
    return previous


@dataclass(frozen=True)
class DeviceProperties:
    """What torch.neuron.get_device_properties returns."""

    name: str
    index: int
    total_memory: int  # bytes
    kind: str  # the value of TORCH_NEURON_DEVICE


def get_device_properties(device: torch.types.Device = None) -> DeviceProperties:
    """Name, kind and memory of a device."""
    index = _checked(index_of(device))
    kind = _kind()
    names = {"emulator": "AWS Trainium (emulated on the CPU)", "null": "null device (runs nothing)"}
    total = torch.accelerator.get_memory_info(index)[1]
    return DeviceProperties(names.get(kind, "AWS Trainium"), index, total, kind)


def get_device_name(device: torch.types.Device = None) -> str:
    """The name of a device."""
    return get_device_properties(device).name


def get_device_capability(device: torch.types.Device = None) -> dict[str, Any]:
    """What a device can do, as torch.accelerator.get_device_capability: its dtypes."""
    return torch.accelerator.get_device_capability(_checked(index_of(device)))


def _checked(index: int) -> int:
    if not 0 <= index < _C.device_count():
        raise ValueError(f"invalid {NAME} device {index}: there are {_C.device_count()}")
    return index


def _kind() -> str:
    """The device that the environment chose: emulator, null or nrt."""
    return next(current for variable, _, _, _, current in _C.config() if variable == "TORCH_NEURON_DEVICE")
