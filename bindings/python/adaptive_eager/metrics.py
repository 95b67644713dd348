"""What the engine counts, and its account of itself."""
import os
from typing import Any

from adaptive_eager import _C


def metrics() -> dict[str, int]:
    """All counters by name; docs/metrics.md says what each one counts. Reading them changes nothing."""
    return _C.metrics()


def reset_metrics() -> None:
    """Sets the counters back to zero."""
    _C.reset_metrics()


class Report:
    """The engine's account of itself: print it, or take dict()."""

    def __init__(self, content: dict[str, Any]) -> None:
        self._content = content

    def dict(self) -> dict[str, Any]:
        """The account as plain Python values."""
        return self._content

    def __str__(self) -> str:
        counters = {name: count for name, count in self._content.get("counters", {}).items() if count}
        return "\n".join(_render({**self._content, "counters": counters}))

    __repr__ = __str__


def explain() -> Report:
    """Why segments were cut where they were, what was compiled, what it costs."""
    return Report(_C.explain())


def dump_trace(path: str | os.PathLike[str] | None) -> None:
    """Writes the steps that adaptive mode records from now on, without data, to a file; None ends it.

    The program ``replay`` of the benchmarks runs such a file offline: how segments would be cut, and at what cost.
    """
    _C.dump_trace("" if path is None else os.fspath(path))


def _render(value: Any, indent: int = 0) -> list[str]:
    """Lines for nested dicts and lists: names aligned, one line a plain value, rows of one shape as a table."""
    pad = " " * indent
    if isinstance(value, dict):
        width = max((len(str(name)) for name, item in value.items() if _is_plain(item)), default=0)
        lines = []
        for name, item in value.items():
            if _is_plain(item):
                lines.append(f"{pad}{name:{width}}  {_text(item)}")
            else:
                lines += [f"{pad}{name}", *_render(item, indent + 2)]
        return lines
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(item, dict) and item.keys() == value[0].keys() for item in value):
            return [pad + line for line in _table(value)]
        return [line for item in value for line in _render(item, indent)]
    return [pad + _text(value)]


def _table(rows: list[dict[str, Any]]) -> list[str]:
    names = list(rows[0])
    cells = [names] + [[_text(row[name]) for name in names] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(names))]
    numeric = [all(isinstance(row[name], (int, float)) for row in rows) for name in names]
    return [
        "  ".join(cell.rjust(w) if right else cell.ljust(w) for cell, w, right in zip(row, widths, numeric)).rstrip()
        for row in cells
    ]


def _is_plain(value: Any) -> bool:
    return not isinstance(value, (dict, list, tuple))


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}"
