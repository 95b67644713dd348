"""Exchanges a function of PyTorch for our own, once."""
import functools
from collections.abc import Callable
from typing import Any


def replace(owner: Any, name: str, make: Callable[[Callable], Callable]) -> None:
    """Sets owner.name to make(original), unless it is ours already."""
    original = getattr(owner, name)
    if not hasattr(original, "_replaced_by_adaptive_eager"):
        replacement = functools.wraps(original)(make(original))
        replacement._replaced_by_adaptive_eager = True
        setattr(owner, name, replacement)
