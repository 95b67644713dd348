"""The switch of adaptive mode and the explicit cut."""
from torch.utils._contextlib import _DecoratorContextManager

from adaptive_eager import _C


class adaptive_eager(_DecoratorContextManager):
    """Turns adaptive mode on or off for a block or a function, in this thread.

        with torch.neuron.adaptive_eager(False):
            ...                                    # every op is launched alone

        @torch.neuron.adaptive_eager(True)
        def step(): ...

    Values, errors and order are the same in both modes. TORCH_NEURON_ADAPTIVE_EAGER sets the mode at the start.
    """

    def __init__(self, enabled: bool = True) -> None:
        if not isinstance(enabled, bool):
            raise TypeError(f"adaptive_eager(enabled) expects a bool, but got {type(enabled).__name__}")
        self.enabled = enabled
        self._previous: list[bool] = []

    def __enter__(self) -> None:
        self._previous.append(_C.set_adaptive(self.enabled))

    def __exit__(self, *exception: object) -> None:
        _C.set_adaptive(self._previous.pop())

    def clone(self) -> "adaptive_eager":
        """A fresh manager for each call of a decorated function."""
        return type(self)(self.enabled)


def is_adaptive() -> bool:
    """Whether this thread records in adaptive mode."""
    return _C.is_adaptive()


def mark_step() -> None:
    """Ends this thread's segment here: a natural boundary, such as the end of a training step. Does not wait."""
    _C.mark_step()
