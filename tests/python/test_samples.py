"""A part of the long suites of full/: some operations, modules, optimizers and models, and a short soak."""
import importlib.util

import pytest

from suites import all_bits, lasting, nothing_differs, report_of

UNITS, MODELS, SEED, ITERATIONS = 120, 6, 20, 300


@pytest.mark.parametrize("threads", [1, 2])
def test_a_sample_of_operations(tmp_path, threads):
    options = ["--sample", UNITS, "--seed", SEED + threads, "--threads", threads, "--jobs", 1]
    nothing_differs(*report_of("run_conformance", tmp_path, *options))


@pytest.mark.skipif(not importlib.util.find_spec("transformers"), reason="needs transformers: requirements-full.txt")
def test_a_few_models(tmp_path):
    all_bits(*report_of("run_models", tmp_path, "--sample", MODELS))


def test_a_short_soak(tmp_path):
    lasting(*report_of("run_soak", tmp_path, "--iterations", ITERATIONS, "--share", 0.15))
