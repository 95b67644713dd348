"""Sizes that were not seen before: layouts are inferred, the trace is the same, bits and errors are eager's."""
import re
from pathlib import Path

import pytest
import torch
import torchgen

from programs import exact
from surface import DEVICE, recording

COUNTERS = "layouts_inferred", "ops_inline", "segments_launched", "segment_misses"


def counted(call):
    """What the counters move while call and its work run."""
    before = torch.neuron.metrics()
    call()
    torch.neuron.synchronize()
    after = torch.neuron.metrics()
    return {name: after[name] - before[name] for name in COUNTERS}


def of_length(device, n):
    x = torch.ones(n, 4, device=device)
    w = torch.linspace(-1, 1, 16, device=device).reshape(4, 4)
    for _ in range(4):
        x = torch.tanh(x @ w + 1) * 0.5
    x.mul_(x.sum(1, keepdim=True)).clamp_(-1, 1)
    best, where = x.max(1)
    return torch.cat([x, x.exp()]), best, where, torch.softmax(x, 0), x.mean(0), x > 0.1


def decode(device, tokens):
    """A loop whose keys and values grow by cat."""
    generator = torch.Generator().manual_seed(0)
    q, k, v, out = (torch.randn(16, 16, generator=generator).to(device) for _ in range(4))
    x, keys = torch.ones(1, 16, device=device), torch.zeros(1, 16, device=device)
    values = keys.clone()
    for _ in range(tokens):
        keys, values = torch.cat([keys, x @ k]), torch.cat([values, x @ v])
        weights = torch.softmax(x @ q @ keys.t() * 0.25, -1)
        x = torch.tanh(weights @ values @ out + x)
        yield x.tolist()


def test_every_size_has_the_bits_of_the_cpu():
    for n in (3, 4, 1, 17, 2, 0, 64, 5):
        exact(lambda device: of_length(device, n))


@recording
def test_rotating_sizes_follow_one_trace():
    with torch.neuron.adaptive_eager(True):
        lap = lambda first: [of_length(DEVICE, n) for n in range(first, first + 40)]
        for _ in range(6):
            counted(lambda: lap(2))  # the ends of segments are learned, at the wait too
        old, new = counted(lambda: lap(2)), counted(lambda: lap(42))
    assert old["layouts_inferred"] == 0 and new["layouts_inferred"] > 400
    for moved in old, new:
        assert (moved["ops_inline"], moved["segment_misses"]) == (0, 0) and moved["segments_launched"] > 0


@recording
def test_a_growing_cache_follows_one_trace():
    with torch.neuron.adaptive_eager(True):
        # From some 60 tokens on a cat takes the device so long that it ends its segment: a trace of its own.
        loop = decode(DEVICE, 50)
        got = [next(loop) for _ in range(20)]
        moved = counted(lambda: got.extend(loop))
    assert got == list(decode("cpu", 50))
    assert (moved["ops_inline"], moved["segment_misses"]) == (0, 0)
    assert moved["layouts_inferred"] >= 5 * 30


WRONG = {
    "add": lambda x: x + x[:, :3].contiguous(),
    "mm": lambda x: x @ x[:5].contiguous(),
    "cat": lambda x: torch.cat([x, x[:, :3].contiguous()]),
    "in place": lambda x: x.add_(torch.ones(3, 3, device=x.device)),
    "dim": lambda x: x.sum(2),
}


@pytest.mark.parametrize("name", WRONG)
def test_sizes_that_do_not_fit_raise_at_the_call(name):
    wrong = WRONG[name]
    for good in (6, 7):  # the structures are known: only the sizes are wrong
        x = torch.ones(good, good, device=DEVICE)
        x + x, x @ x, torch.cat([x, x]), x.add_(x.clone()), x.sum(1)
    with pytest.raises((RuntimeError, IndexError)) as expected:
        wrong(torch.ones(9, 9))
    with pytest.raises(expected.type) as raised:
        wrong(torch.ones(9, 9, device=DEVICE))
    assert str(raised.value) == str(expected.value)


def test_values_that_do_not_fit_raise_at_the_call_too():
    def program(device, n, place):
        return torch.ones(n, n, device=device).gather(1, torch.full((n, 1), place, device=device))

    for n in (2, 3):
        exact(lambda device: program(device, n, 1))
    with pytest.raises(RuntimeError) as expected:
        program("cpu", 4, 23)
    with pytest.raises(RuntimeError) as raised:
        program(DEVICE, 4, 23)
    assert str(raised.value) == str(expected.value)


def test_overlap_that_comes_with_the_size_raises():
    def program(device, n):
        x = torch.zeros(40, device=device)
        return x[5:5 + n].add_(x[:n])

    for n in (2, 3, 5):
        exact(lambda device: program(device, n))
    for device in "cpu", DEVICE:
        with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor refer to"):
            program(device, 9)


def test_expanded_tensors_are_not_written():
    for n in (3, 4):
        torch.zeros(n, device=DEVICE).add_(1)
    for device in "cpu", DEVICE:
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
            torch.zeros(1, device=device).expand(5).add_(1)


def test_python_kernels_for_meta_tensors_change_nothing():
    import torch._meta_registrations  # noqa: F401

    for n in (21, 22, 23):
        exact(lambda device: of_length(device, n))


def test_the_op_table_knows_which_ops_are_structured():
    table = Path(__file__).parents[2] / "ir" / "ops.inc"
    rows = re.findall(r'^AEE_(?:STRUCTURED|POINTWISE)\((?:\w+, )+"([^"]+)"', table.read_text(), re.MULTILINE)
    functions = (Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml").read_text()
    blocks = [block for block in functions.split("- func: ") if "structured_delegate:" in block]
    structured = {block.partition("(")[0] for block in blocks}
    assert len(rows) > 100 and set(rows) <= structured
