"""Checks who includes whom: the table of layers and the doors of third-party headers are data, below.

Usage: check_layering.py [root]. Prints file:line: error: message; exit code 1 if there is an error.
"""

from __future__ import annotations

import re
import sys

from source_tree import Finding, SourceFile, read_tree, report, root_from_arguments

# Layer (folder) -> the layers that it may include besides itself. Lowest first.
LAYERS: dict[str, tuple[str, ...]] = {
    "core/base": (),
    "core/runtime": ("core/base",),
    "ir": ("core/base", "core/runtime"),
    "cache": ("core/base", "core/runtime", "ir"),
    "lowering/llvm": ("core/base", "ir"),
    "lowering/stablehlo": ("core/base", "ir"),
    "core/engine": ("core/base", "core/runtime", "ir", "cache", "lowering/llvm", "lowering/stablehlo"),
    "lowering/aten": ("core/base", "core/runtime", "ir", "cache"),
    "bindings/torch": ("core/base", "core/runtime", "ir", "cache", "core/engine", "lowering/aten"),
    "bindings/python": ("core/base", "core/runtime", "ir", "cache", "core/engine", "lowering/aten", "bindings/torch"),
}

# Folder of tests or benches -> the layer that it looks at; it may include what that layer may, and the layer.
MIRRORS: dict[str, str] = {
    "tests/base": "core/base",
    "tests/runtime": "core/runtime",
    "tests/ir": "ir",
    "tests/cache": "cache",
    "tests/engine": "core/engine",
    "tests/llvm": "lowering/llvm",
    "tests/aten": "lowering/aten",
    "tests/torch": "bindings/torch",
    "tests": "core/base",  # what lies beside the folders is for all of them
    "bench": "bindings/torch",
}

# Projects of their own: they see the public headers, and by "" their own folder.
EXAMPLES = "examples/"
PUBLIC = "bindings/torch/include/"

# Third-party headers -> the only places (beginnings of paths) that may include them.
TORCH_PLACES = ("lowering/aten/", "bindings/", "tests/aten/", "tests/torch/", "bench/", "examples/")
DOORS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("PyTorch", r"(ATen|c10|torch|caffe2)/", TORCH_PLACES),
    ("Python", r"(Python\.h|frameobject\.h|pybind11/|internal/pycore_)", ("bindings/python/",)),
    ("LLVM", r"(llvm|llvm-c)/", ("lowering/llvm/", "tests/llvm/")),
    ("TBB", r"(tbb|oneapi)/", ("core/engine/compile_pool.",)),
    ("xxHash", r"xxh(ash|3)\.h", ("core/base/hash.",)),
    ("libnrt", r"nrt/", ("core/runtime/nrt.",)),
    ("GoogleTest", r"(gtest|gmock)/", ("tests/",)),
    ("Google Benchmark", r"benchmark/", ("bench/",)),
)

INCLUDE = re.compile(r'\s*#\s*include\s+([<"])([^>"]+)[>"]')


def layer_of(path: str) -> str | None:
    """The layer whose folder the file or header lies in."""
    return next((layer for layer in LAYERS if path.startswith(layer + "/")), None)


def mirror_of(path: str) -> str | None:
    return next((folder for folder in MIRRORS if path.startswith(folder + "/")), None)


def visible_layers(file: SourceFile) -> tuple[str, ...] | None:
    """The layers that the file may include; None if it lies in no known folder."""
    layer = layer_of(file.path)
    if layer is None and (mirror := mirror_of(file.path)) is not None:
        layer = MIRRORS[mirror]
    return None if layer is None else (layer, *LAYERS[layer])


def refusal_of_own(file: SourceFile, header: str, known: set[str]) -> str | None:
    """Why the file must not include this header of ours; None if it may."""
    if file.path.startswith(EXAMPLES):
        here = PUBLIC + header in known or f"{file.folder}/{header}" in known
        return None if here else f'"{header}" is neither a public header nor one of this example'
    if header.startswith("adaptive_eager/"):
        header = PUBLIC + header
    if header not in known:
        return f'"{header}" is no file below the root: write the full path from the root, <> for foreign headers'
    if "/detail/" in header and not header.startswith(file.folder + "/"):
        return f'"{header}" is private to its own folder'
    target, visible = layer_of(header), visible_layers(file)
    if target is None:
        shared = header.startswith("tests/") and file.path.startswith(("tests/", "bench/"))
        within = header.startswith("bench/") and file.path.startswith("bench/")
        return None if shared or within else f'"{header}" belongs to no layer'
    if visible is not None and target not in visible:
        return f'"{header}" is of layer {target}; this folder may include {", ".join(visible)}'
    return None


def refusal_of_foreign(file: SourceFile, header: str) -> str | None:
    """Why the file must not include this foreign header; None if it may."""
    for library, pattern, places in DOORS:
        if re.match(pattern, header) and not file.path.startswith(places):
            return f"<{header}> is of {library}, which only {', '.join(places)} may include"
    return None


def check_file(file: SourceFile, known: set[str]) -> list[Finding]:
    findings = []
    if visible_layers(file) is None and not file.path.startswith(EXAMPLES):
        findings.append(Finding(file.path, 1, "lies in no layer of the table in tools/check_layering.py"))
    for number, line in enumerate(file.lines, 1):
        if match := INCLUDE.match(line):
            quote, header = match.groups()
            ours = quote == '"' or header.startswith("adaptive_eager/")
            message = refusal_of_own(file, header, known) if ours else refusal_of_foreign(file, header)
            if message:
                findings.append(Finding(file.path, number, message))
    return findings


def main() -> int:
    files = read_tree(root_from_arguments(), (".h", ".cpp", ".inc"))
    known = {file.path for file in files}
    findings = [finding for file in files for finding in check_file(file, known)]
    return report("layering", findings, len(files))


if __name__ == "__main__":
    sys.exit(main())
