"""Adaptive Eager: the PyTorch device `neuron`.

PyTorch finds the package by the entry point `torch.backends` and calls `_autoload` at the end of `import torch`, so
that `torch.device("neuron")` needs no import; `import adaptive_eager` does the same by hand. What users call is in
`torch.neuron` (module `adaptive_eager.neuron`).

Whatever is wrong with this package must not break `import torch` for those who do not use it: a failure that happens
while PyTorch loads its backends becomes a warning. An explicit import raises ImportError.
"""
import sys

from adaptive_eager import guard

__version__ = guard.VERSION


def _autoload() -> None:
    """Entry point of the group `torch.backends`; never raises.

    It must exist before this module imports torch: when `import adaptive_eager` comes first, torch calls it while
    this module is still loading, and then there is nothing left to do.
    """
    if guard.failure is not None:
        sys.modules.pop(__name__, None)  # so that an explicit import runs this module again, and raises
        guard.warn(f"{guard.failure}. PyTorch works without the device 'neuron'.")


def _load() -> None:
    """Loads the extension and registers the device, or raises ImportError that says what to do."""
    if guard.failure is not None:
        raise guard.failure  # PyTorch is half set up: there is no second attempt in one process
    called_by_torch = guard.torch_is_loading()
    try:
        import torch

        guard.check_torch(torch.__version__)
        guard.check_other_backends(torch, called_by_torch)
        guard.load_extension()
        from adaptive_eager import registration

        registration.register()
    except Exception as error:
        guard.failure = guard.as_import_error(error)
        if not called_by_torch:
            raise guard.failure


_load()
