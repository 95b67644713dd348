"""The files of the repository as the checks see them, and how they report."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

SKIPPED_FOLDERS = {"build", "dist", "__pycache__"}


@dataclass(frozen=True)
class Finding:
    """One broken rule at one place. A warning does not fail the check."""

    path: str
    line: int
    message: str
    is_warning: bool = False

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {'warning' if self.is_warning else 'error'}: {self.message}"


@dataclass(frozen=True)
class SourceFile:
    """A text file, its path relative to the root and with forward slashes."""

    path: str
    lines: tuple[str, ...]

    @property
    def folder(self) -> str:
        return os.path.dirname(self.path)

    @property
    def name(self) -> str:
        return os.path.basename(self.path)


def read_tree(root: Path, suffixes: tuple[str, ...]) -> list[SourceFile]:
    """All files below root whose name ends so, in order of their paths; hidden and built folders are left out."""
    files = []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(name for name in subfolders if name not in SKIPPED_FOLDERS and name[0] != ".")
        for name in sorted(names):
            path = Path(folder, name)
            if name.endswith(suffixes) and path.is_file():
                relative = path.relative_to(root).as_posix()
                files.append(SourceFile(relative, tuple(path.read_text(encoding="utf-8").splitlines())))
    return files


def report(name: str, findings: list[Finding], file_count: int) -> int:
    """Prints the findings and a closing line; returns the exit code."""
    for finding in findings:
        print(finding)
    errors = sum(not finding.is_warning for finding in findings)
    print(f"{name}: {file_count} files, {errors} errors, {len(findings) - errors} warnings")
    return 1 if errors else 0


def root_from_arguments() -> Path:
    """The folder given on the command line, else the repository that this file lies in."""
    return Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
