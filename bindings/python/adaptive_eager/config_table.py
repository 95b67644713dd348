"""Prints every environment variable that the engine reads, with its value in this process: a star marks a change.

    python -m adaptive_eager.config_table
"""
from adaptive_eager import _C


def table() -> str:
    """Two lines a variable."""
    lines = []
    for variable, kind, default, text, current in _C.config():
        mark = " " if current == default else "*"
        lines += [f"{mark} {variable}={current}", f"      {text} ({kind}, default {default or 'empty'})"]
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
