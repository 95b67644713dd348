"""Checks the rules of our style that a script can see: sizes, overviews, listed sources, words that must not stay.

Usage: check_style.py [root]. Prints file:line: error: message; exit code 1 if there is an error. Warnings only tell.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from source_tree import Finding, SourceFile, read_tree, report, root_from_arguments

HARD_LIMIT = 500
SOFT_LIMITS = {".h": 120, ".cpp": 350, ".py": 350, "CMakeLists.txt": 40}
LINE_LENGTH = 120

# What must not stand in which files, and what to do instead.
BANNED: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b", ("",), "no reminders in the code: file an issue"),
    (r"^\s*#\s*if 0\b", (".h", ".cpp", ".inc"), "no dead code"),
    (r"\bfile\s*\(\s*GL" r"OB", (".cmake", "CMakeLists.txt"), "list the sources"),
    (r"^\s*(include_directories|link_directories|link_libraries|add_definitions|add_compile_options)\s*\(",
     (".cmake", "CMakeLists.txt"), "use the command for one target"),
    (r"(?<![\w.}])/(root|work|home)/", ("",), "no paths of one machine"),
    (r"\s$", ("",), "blank at the end of the line"),
    (r"\t", (".h", ".cpp", ".inc", ".py", ".cmake"), "tab"),
)

# An absent thing is a stub or a missing device. Who may ask the preprocessor: the lowest layer, the foreign driver, and
# the reader of Python's frames, whose layout changes with Python's version.
CONDITIONAL = re.compile(r"^\s*#\s*(if|ifdef|ifndef)\b")
CONDITIONAL_PLACES = ("core/base/", "core/runtime/nrt", "bindings/python/source_line.cpp", "tests/", "bench/")

# Folders whose files must be named in their CMakeLists.txt.
LISTED = (("bindings/python/adaptive_eager", "bindings/python", ".py"), ("", "", ".cpp"))


def check_size(file: SourceFile) -> Iterator[Finding]:
    count = len(file.lines)
    if count > HARD_LIMIT:
        yield Finding(file.path, count, f"{count} lines, at most {HARD_LIMIT}: split it")
        return
    for suffix, limit in SOFT_LIMITS.items():
        if file.name.endswith(suffix) and count > limit:
            yield Finding(file.path, count, f"{count} lines, {limit} are enough for a {suffix}", is_warning=True)


def check_lines(file: SourceFile) -> Iterator[Finding]:
    for number, line in enumerate(file.lines, 1):
        if len(line) > LINE_LENGTH and not file.name.endswith((".md", ".inc")):
            yield Finding(file.path, number, f"{len(line)} columns, at most {LINE_LENGTH}")
        for pattern, suffixes, cure in BANNED:
            if file.name.endswith(suffixes) and (match := re.search(pattern, line)):
                yield Finding(file.path, number, f"{match.group().strip() or 'blank'}: {cure}")
        if file.name.endswith((".h", ".cpp")) and CONDITIONAL.match(line):
            if not file.path.startswith(CONDITIONAL_PLACES):
                yield Finding(file.path, number, "#if: an absent thing is a stub or a missing device")


def check_overview(file: SourceFile) -> Iterator[Finding]:
    if not file.name.endswith((".h", ".inc")):
        return
    length = next((i for i, line in enumerate(file.lines) if not line.startswith("//")), len(file.lines))
    if length < 2:
        yield Finding(file.path, 1, "begins without an overview: what it is, who calls it, thread rule, ownership")
    if file.name.endswith(".h") and "#pragma once" not in file.lines:
        yield Finding(file.path, 1, "no #pragma once")


def check_listed(file: SourceFile, build_files: dict[str, SourceFile]) -> Iterator[Finding]:
    for below, build_folder, suffix in LISTED:
        if not file.name.endswith(suffix) or not file.path.startswith(below):
            continue
        folder = build_folder or file.folder
        while folder and folder not in build_files:
            folder = folder.rpartition("/")[0]
        lists = build_files.get(folder)
        relative = file.path[len(below or folder) + 1:]
        if lists and not re.search(rf"(?<![\w/]){re.escape(relative)}(?!\w)", "\n".join(lists.lines)):
            yield Finding(file.path, 1, f"is not listed in {lists.path}")


def main() -> int:
    files = read_tree(root_from_arguments(), (".h", ".cpp", ".inc", ".py", ".cmake", ".md", "CMakeLists.txt", "dev"))
    build_files = {file.folder: file for file in files if file.name == "CMakeLists.txt"}
    findings = []
    for file in files:
        if file.lines:
            for check in (check_size, check_lines, check_overview):
                findings += check(file)
            findings += check_listed(file, build_files)
    return report("style", findings, len(files))


if __name__ == "__main__":
    sys.exit(main())
