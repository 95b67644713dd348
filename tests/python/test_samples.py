"""A part of the long suites of full/: some operations, modules and optimizers, and a few models, spread over all."""
import importlib.util

import pytest

from suites import all_bits, nothing_differs, report_of

UNITS, MODELS, SEED = 120, 6, 20


@pytest.mark.parametrize("threads", [1, 2])
def test_a_sample_of_operations(tmp_path, threads):
    options = ["--sample", UNITS, "--seed", SEED + threads, "--threads", threads, "--jobs", 1]
    nothing_differs(*report_of("run_conformance", tmp_path, *options))


@pytest.mark.skipif(not importlib.util.find_spec("transformers"), reason="needs transformers: requirements-full.txt")
def test_a_few_models(tmp_path):
    all_bits(*report_of("run_models", tmp_path, "--sample", MODELS))
