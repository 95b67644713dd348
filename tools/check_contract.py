"""Checks docs/contract.md: every promise names tests, and every test that it names exists.

Usage: check_contract.py [root]. Prints file:line: error: message; exit code 1 if there is an error.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from source_tree import Finding, report, root_from_arguments

PAGE = "docs/contract.md"
NAME = re.compile(r"`([\w/]+\.(?:py|cpp))::([\w.]+)`")


def exists(root: Path, file: str, test: str) -> bool:
    """Whether a test, `name` in Python or `Suite.Name` in C++, is defined in a file."""
    path = root / ("tests/python" if file.endswith(".py") else "tests") / file
    if not path.is_file():
        return False
    if file.endswith(".py"):
        definition = rf"^def {re.escape(test)}\("
    else:
        suite, _, name = test.partition(".")
        definition = rf"^TEST(?:_F|_P)?\({re.escape(suite)}, {re.escape(name)}\)"
    return re.search(definition, path.read_text(encoding="utf-8"), re.MULTILINE) is not None


def rows(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The rows of the tables, with their line numbers; heads and rules are left out."""
    for number, line in enumerate(lines, 1):
        if line.startswith("|") and not line.startswith(("|---", "| promise |")):
            yield number, line


def check_page(root: Path, lines: list[str]) -> Iterator[Finding]:
    for number, line in rows(lines):
        names = NAME.findall(line)
        if not names or line.count("::") != len(names):
            yield Finding(PAGE, number, "a promise without a test, or a name that is not `file::test`")
        for file, test in names:
            if not exists(root, file, test):
                yield Finding(PAGE, number, f"there is no test {file}::{test}")


def main() -> int:
    root = root_from_arguments()
    lines = (root / PAGE).read_text(encoding="utf-8").splitlines()
    findings = list(check_page(root, lines))
    if not any(rows(lines)):
        findings.append(Finding(PAGE, 1, "no promises"))
    return report("contract", findings, 1)


if __name__ == "__main__":
    sys.exit(main())
