"""Start, fork and exit. The device starts by itself at its first use; Python has nothing to initialise."""
import atexit
from collections.abc import Callable
from typing import Any

import torch

from adaptive_eager import _C

# Checkpointing keeps the random state of a device only if its module says that the device is initialised. Our
# generators exist from the start, so the answer does not depend on whether the device has run anything.
_initialized = True


def is_initialized() -> bool:
    """Whether the device has been used in this process."""
    return not _C.is_bad_fork() and torch._C._accelerator_isAllocatorInitialized()


def init() -> None:
    """Starts the device, which otherwise its first use does."""
    _lazy_init()
    torch.empty(0, device="neuron")


def _is_in_bad_fork() -> bool:
    """Whether this process was forked from one that used the device: its threads are gone, so it cannot go on here."""
    return _C.is_bad_fork()


def _lazy_init() -> None:
    """Refuses in a forked child; libraries call it before they use a device."""
    if _C.is_bad_fork():
        raise RuntimeError(
            "Cannot re-initialize neuron in forked subprocess. To use neuron with multiprocessing, "
            "you must use the 'spawn' start method"
        )


def _lazy_call(call: Callable[[], Any], **options: Any) -> None:
    """Calls at once: libraries use it to put work off until a device is initialised, which ours never needs."""
    call()


def register_exit() -> None:
    """At exit recorded work is finished and the device stopped, while Python is still whole."""
    atexit.unregister(_C.shutdown)
    atexit.register(_C.shutdown)
