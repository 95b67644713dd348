"""Streams and events: PyTorch's own classes, with the functions that programs expect in a device's module."""
import torch

from adaptive_eager import _C
from adaptive_eager.device import device, index_of

Stream = torch.Stream
Event = torch.Event


def synchronize(device: torch.types.Device = None) -> None:
    """Waits for all work of a device; raises here what failed on it."""
    _C.synchronize(index_of(device))


def current_stream(device: torch.types.Device = None) -> torch.Stream:
    """This thread's current stream on a device."""
    return torch.accelerator.current_stream(index_of(device))


def default_stream(device: torch.types.Device = None) -> torch.Stream:
    """The stream that a device's work goes to unless another is chosen."""
    like = current_stream(device)
    return torch.Stream(stream_id=0, device_index=like.device_index, device_type=like.device_type)


def set_stream(stream: torch.Stream | None) -> None:
    """Makes a stream, and its device, this thread's current one; None changes nothing."""
    if stream is not None:
        torch.accelerator.set_stream(stream)


class StreamContext:
    """Context manager that makes a stream, and its device, current; None changes nothing."""

    def __init__(self, stream: torch.Stream | None) -> None:
        self.stream = stream
        self._previous: list[torch.Stream] = []

    def __enter__(self) -> torch.Stream | None:
        if self.stream is not None:
            here = current_stream()
            with device(self.stream.device):
                there = current_stream()
            self._previous += [here, there]
            set_stream(self.stream)
        return self.stream

    def __exit__(self, *exception: object) -> None:
        if self.stream is not None:
            set_stream(self._previous.pop())
            set_stream(self._previous.pop())


def stream(stream: torch.Stream | None) -> StreamContext:
    """`with torch.neuron.stream(s):` runs the block's work on s."""
    return StreamContext(stream)


def is_current_stream_capturing() -> bool:
    """Whether the current stream records a graph of work: never, the device has no such graphs."""
    return False

