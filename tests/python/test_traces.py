"""dump_trace: the stream of recorded steps as a file."""
import pytest
import torch

from surface import DEVICE, recording


def loop(x, laps=3):
    for _ in range(laps):
        x = torch.tanh(x * 0.5) + x
    return x


@recording
def test_a_trace_has_steps_and_cuts_but_no_data(tmp_path):
    path = tmp_path / "trace.txt"
    x = torch.full((4, 4), 0.123456789, device=DEVICE)
    with torch.neuron.adaptive_eager(True):
        loop(x).cpu()
        torch.neuron.dump_trace(path)
        loop(x).cpu()
        torch.neuron.dump_trace(None)
        loop(x).cpu()
    lines = path.read_text().splitlines()
    assert lines[0] == "adaptive-eager-trace 1"
    assert lines[1].startswith("recorder 0 max_ops ")
    assert [line.split(" op ")[1].split()[0] for line in lines if line.startswith("step")] == [
        "aten::mul.Tensor", "aten::tanh", "aten::add.Tensor"] * 3
    assert lines[-1] == "cut 0 reason cut_host_read waiting 1"


@recording
def test_a_second_trace_ends_the_first(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    x = torch.ones(3, device=DEVICE)
    with torch.neuron.adaptive_eager(True):
        loop(x).cpu()
        torch.neuron.dump_trace(first)
        loop(x).cpu()
        torch.neuron.dump_trace(second)
        torch.neuron.dump_trace(None)
    assert first.read_text().count("\n") > 9
    assert second.read_text() == "adaptive-eager-trace 1\n"


def test_a_path_that_cannot_be_written_is_an_error():
    with pytest.raises(RuntimeError, match="dump_trace: cannot write '/nonexistent-folder/trace'"):
        torch.neuron.dump_trace("/nonexistent-folder/trace")
