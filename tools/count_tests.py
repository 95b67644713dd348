"""Adds up what the runners of `./dev test` report; the last line is 'N passed, M failed'.

Usage: count_tests.py RUNS, a file with a line for each runner: name, exit code and JUnit report or -, tab between them.
A runner without a report counts as one test, and so does the fall of a runner whose report knows of no failure.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

NO_TESTS_COLLECTED = 5  # pytest's exit code


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __iadd__(self, other: Count) -> Count:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        return self


def count_report(path: str) -> Count:
    """What a JUnit report says; nothing if the runner fell before it wrote one."""
    count = Count()
    try:
        cases = list(ElementTree.parse(path).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return count
    for case in cases:
        if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
            count.failed += 1
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            count.skipped += 1
        else:
            count.passed += 1
    return count


def count_runner(code: int, report: str) -> Count:
    if report == "-":
        return Count(passed=int(code == 0), failed=int(code != 0))
    count = count_report(report)
    if code not in (0, NO_TESTS_COLLECTED) and count.failed == 0:
        count.failed += 1
    return count


def main() -> int:
    path = Path(sys.argv[1])
    total = Count()
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        name, code, report = line.split("\t")
        count = count_runner(int(code), report)
        total += count
        print(f"{name:24} {count.passed:6} passed {count.failed:4} failed {count.skipped:4} skipped")
    print(f"{total.passed} passed, {total.failed} failed", flush=True)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
