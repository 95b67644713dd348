"""All models of zoo/ give the bits of the CPU, in their own type and in bfloat16, at one thread and at two."""
import pytest

from suites import all_bits, report_of

pytest.importorskip("transformers", reason="needs requirements-full.txt")
pytest.importorskip("diffusers", reason="needs requirements-full.txt")

KINDS = ["encoder", "decoder", "seq2seq", "vision", "audio", "multimodal", "series|diffusion"]
OPTIONS = {"plain": (), "bfloat16": ("--dtype", "bfloat16"), "two threads": ("--threads", 2)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", OPTIONS)
def test_models(tmp_path, kind, options):
    all_bits(*report_of("run_models", tmp_path, "--kind", kind, *OPTIONS[options]))
