"""The checks of tools/ find what they are for and let the rest pass."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
OVERVIEW = "// What it is.\n// Who calls it.\n#pragma once\n"


def run(tool: str, *arguments: object) -> tuple[int, str]:
    result = subprocess.run([sys.executable, "-B", TOOLS / tool, *arguments], capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


def write(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.mark.parametrize(
    "path, include, complaint",
    [
        ("core/engine/a.cpp", "<ATen/core/Tensor.h>", "is of PyTorch"),
        ("core/runtime/a.cpp", '"core/engine/engine.h"', "is of layer core/engine"),
        ("core/runtime/a.cpp", '"engine.h"', "full path from the root"),
        ("core/base/a.cpp", "<xxhash.h>", "is of xxHash"),
        ("core/engine/a.cpp", "<tbb/task_arena.h>", "is of TBB"),
        ("elsewhere/a.cpp", "<vector>", "lies in no layer"),
        ("core/engine/a.cpp", '"core/runtime/detail/b.h"', "is private"),
        ("examples/a/a.cpp", '"core/engine/engine.h"', "neither a public header"),
    ],
)
def test_layering_refuses(tmp_path, path, include, complaint):
    root = write(tmp_path, {path: f"#include {include}\n", "core/engine/engine.h": "", "core/runtime/detail/b.h": ""})
    code, output = run("check_layering.py", root)
    assert code == 1 and complaint in output


def test_layering_passes_what_the_table_allows(tmp_path):
    root = write(
        tmp_path,
        {
            "core/base/hash.cpp": '#include "core/base/hash.h"\n\n#include <xxhash.h>\n',
            "core/base/hash.h": "#include <string>\n",
            "core/engine/engine.cpp": '#include "core/base/hash.h"\n',
            "lowering/aten/call.cpp": "#include <ATen/core/Tensor.h>\n",
            "bindings/torch/include/adaptive_eager/a.h": "#include <c10/core/Device.h>\n",
            "examples/a/a.cpp": '#include <adaptive_eager/a.h>\n\n#include "b.h"\n',
            "examples/a/b.h": "#include <torch/torch.h>\n",
            "tests/runtime/queue_test.cpp": '#include <gtest/gtest.h>\n\n#include "core/base/hash.h"\n',
        },
    )
    assert run("check_layering.py", root)[0] == 0


@pytest.mark.parametrize(
    "path, text, complaint",
    [
        ("ir/a.h", "#pragma once\n", "without an overview"),
        ("ir/a.h", OVERVIEW + "int x;\n" * 500, "at most 500"),
        ("ir/a.h", OVERVIEW + "// TO" + "DO later\n", "file an issue"),
        ("ir/a.h", OVERVIEW + "#if 0\n#endif\n", "no dead code"),
        ("ir/a.h", OVERVIEW + "#ifdef __AVX2__\n#endif\n", "an absent thing"),
        ("ir/a.h", OVERVIEW + "int x; \n", "blank at the end"),
        ("ir/forgotten.cpp", "int x;\n", "is not listed in ir/CMakeLists.txt"),
        ("ir/CMakeLists.txt", "file(GL" + "OB sources *.cpp)\n", "list the sources"),
    ],
)
def test_style_refuses(tmp_path, path, text, complaint):
    code, output = run("check_style.py", write(tmp_path, {"ir/CMakeLists.txt": "set(sources b.cpp)\n", path: text}))
    assert code == 1 and complaint in output


def test_style_only_warns_of_a_long_header(tmp_path):
    code, output = run("check_style.py", write(tmp_path, {"ir/a.h": OVERVIEW + "int x;\n" * 200}))
    assert code == 0 and "warning" in output


CONTRACT = "| promise | tests |\n|---|---|\n| it works | `test_a.py::test_works`, `b_test.cpp::Thing.Works` |\n"
PROVEN = {"tests/python/test_a.py": "def test_works():\n", "tests/b_test.cpp": "TEST_F(Thing, Works) {\n"}


def test_contract_passes_where_every_test_exists(tmp_path):
    assert run("check_contract.py", write(tmp_path, {"docs/contract.md": CONTRACT, **PROVEN}))[0] == 0


@pytest.mark.parametrize(
    "old, new, complaint",
    [
        ("test_works`", "test_work`", "there is no test test_a.py::test_work"),
        ("Thing.Works", "Thing.Work", "there is no test b_test.cpp::Thing.Work"),
        ("test_a.py", "test_c.py", "there is no test test_c.py"),
        ("`test_a.py::test_works`, `b_test.cpp::Thing.Works`", "none yet", "a promise without a test"),
        (CONTRACT, "", "no promises"),
    ],
)
def test_contract_refuses(tmp_path, old, new, complaint):
    code, output = run("check_contract.py", write(tmp_path, {"docs/contract.md": CONTRACT.replace(old, new), **PROVEN}))
    assert code == 1 and complaint in output


def test_counting_adds_reports_and_notices_a_fallen_runner(tmp_path):
    report = '<testsuites><testsuite><testcase/><testcase><failure/></testcase><testcase><skipped/></testcase>'
    root = write(
        tmp_path,
        {
            "a.xml": report + "</testsuite></testsuites>",
            "runs.tsv": f"a\t1\t{tmp_path}/a.xml\nbuild\t0\t-\nfallen\t139\t{tmp_path}/none.xml\nempty\t5\t-none\n",
        },
    )
    code, output = run("count_tests.py", root / "runs.tsv")
    assert code == 1 and output.splitlines()[-1] == "2 passed, 2 failed"
