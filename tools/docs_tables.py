#!/usr/bin/env python3
"""Writes the tables of docs/ that come from the sources: variables, counters and cut reasons.

    tools/docs_tables.py            rewrites them in place
    tools/docs_tables.py --check    fails if one is out of date

A table stands between the lines `<!-- table of FILE -->` and `<!-- end -->`.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("docs/environment.md", "docs/metrics.md")
ROW = re.compile(r"^AEE_\w+\((.*)\)$", re.MULTILINE)
SLOT = re.compile(r"(<!-- table of (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def default(text: str) -> str:
    """A C++ default as a user writes it."""
    if shift := re.fullmatch(r"std::uint64_t\{1\} << (\d+)", text):
        return f"`{1 << int(shift[1])}`"
    if choice := re.search(r"::k(\w+)$", text):
        return f"`{choice[1].lower()}`"
    return {"true": "`1`", "false": "`0`", "": "empty"}.get(text, f"`{text}`")


def table(path: str) -> str:
    """The rows of an .inc file in Markdown."""
    rows = ROW.findall((ROOT / path).read_text())
    if path.endswith("config.inc"):
        lines = ["| variable | type | default | meaning |", "|---|---|---|---|"]
        for row in rows:
            _, variable, kind, value, text = re.fullmatch(r'(\w+), "(\w+)", (\w+), "?(.*?)"?, "(.*)"', row).groups()
            lines.append(f"| `{variable}` | {kind.replace('_', ' ')} | {default(value)} | {text} |")
    else:
        lines = ["| counter | counts |", "|---|---|"]
        for row in rows:
            name, text = re.search(r'(\w+)"?, "([^"]*)"$', row).groups()
            lines.append(f"| `{name}` | {text} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Returns the exit code."""
    stale = []
    for page in PAGES:
        path = ROOT / page
        old = path.read_text()
        new = SLOT.sub(lambda slot: slot[1] + table(slot[2]) + slot[3], old)
        if new != old:
            stale.append(page)
            if "--check" not in sys.argv[1:]:
                path.write_text(new)
    if stale and "--check" in sys.argv[1:]:
        print(f"out of date: {', '.join(stale)}; run tools/docs_tables.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
