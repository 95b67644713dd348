"""All operations, modules and optimizers of PyTorch's own tests, at one thread and at two."""
import pytest

from suites import nothing_differs, report_of

PARTS = 16


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("threads", [1, 2])
def test_conformance(tmp_path, part, threads):
    options = ["--part", f"{part}/{PARTS}", "--threads", threads, "--jobs", 1]
    nothing_differs(*report_of("run_conformance", tmp_path, *options))
