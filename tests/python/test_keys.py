"""What identifies a step: values that must and must not share a key, seen by the counter of unknown layouts."""
import pytest
import torch

from surface import DEVICE, recording

pytestmark = recording


def misses(call):
    """How many layouts had to be found out while call ran."""
    before = torch.neuron.metrics()["layout_misses"]
    call()
    return torch.neuron.metrics()["layout_misses"] - before


def learn(call):
    """Runs call until its layouts are known."""
    for _ in range(3):
        call()


def test_a_repeated_step_is_known():
    x = torch.ones(4, 5, device=DEVICE)
    learn(lambda: (x + x).relu())
    assert misses(lambda: (x + x).relu()) == 0


def test_sizes_decide_layouts():
    learn(lambda: torch.arange(5, device=DEVICE))
    assert torch.arange(6, device=DEVICE).tolist() == [0, 1, 2, 3, 4, 5]
    assert torch.arange(5, device=DEVICE).tolist() == [0, 1, 2, 3, 4]


def test_scalar_values_are_data():
    x = torch.ones(3, device=DEVICE)
    learn(lambda: x.add(x, alpha=0.25) * 0.5)
    assert misses(lambda: [x.add(x, alpha=0.1 + i / 100) * (0.2 + i / 100) for i in range(50)]) == 0
    assert x.add(x, alpha=0.75).tolist() == [1.75] * 3


def test_scalars_that_decide_acceptance_are_told_apart():
    i = torch.tensor([3, 4], device=DEVICE)
    learn(lambda: i.pow(2))
    with pytest.raises(RuntimeError, match="negative integer powers"):
        i.pow(-1)
    b = torch.zeros(2, dtype=torch.int8, device=DEVICE)
    learn(lambda: b.fill_(100))
    with pytest.raises(RuntimeError, match="overflow"):
        b.fill_(300)
    x = torch.zeros(4, device=DEVICE)
    learn(lambda: x.uniform_(0, 1))
    with pytest.raises(RuntimeError, match="from"):
        x.uniform_(1, 0)


def test_scalar_types_decide_dtypes():
    i = torch.ones(2, dtype=torch.int32, device=DEVICE)
    learn(lambda: (i * 2, i * 2.0, i * True))
    assert [(i * v).dtype for v in (2, 2.0, True)] == [torch.int32, torch.float32, torch.int32]


def test_offsets_are_data():
    x = torch.arange(64.0, device=DEVICE)
    learn(lambda: x[3:7] * 2)
    assert misses(lambda: [x[i : i + 4] * 2 for i in range(60)]) == 0
    assert (x[40:44] * 2).tolist() == [80, 82, 84, 86]


def test_overlap_of_what_is_written_decides():
    x = torch.arange(20.0, device=DEVICE)
    learn(lambda: x[10:15].add_(x[0:5], alpha=0))
    with pytest.raises(RuntimeError, match="written-to|overlap|memory"):
        x[1:6].add_(x[0:5])
    assert x.tolist() == list(range(20))


def test_default_dtype_is_part_of_the_key():
    i = torch.tensor([4, 9], device=DEVICE)
    learn(lambda: torch.sqrt(i))
    pending = torch.sqrt(i)
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.sqrt(i).dtype == torch.float64
        assert pending.dtype == torch.float32 and pending.tolist() == [2, 3]
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.sqrt(i).dtype == torch.float32


def test_growing_shapes_give_right_results():
    parts = [torch.full((1, 3), float(i)) for i in range(12)]
    grown = torch.zeros(0, 3, device=DEVICE)
    for part in parts:
        grown = torch.cat([grown, part.to(DEVICE)])
    assert torch.equal(grown.cpu(), torch.cat(parts))


def test_conjugate_and_negative_bits_are_part_of_the_key():
    z = torch.tensor([1 + 2j, 3 - 1j], device=DEVICE)
    for _ in range(3):
        assert torch.equal((z @ z).cpu(), z.cpu() @ z.cpu())
        assert torch.equal((z.conj() @ z).cpu(), z.cpu().conj() @ z.cpu())
        assert torch.equal(z.conj().imag.cpu() + 0, z.cpu().conj().imag + 0)


def test_masks_are_dynamic_and_indices_are_not():
    x = torch.arange(6.0, device=DEVICE)
    index = torch.tensor([1, 2], device=DEVICE)
    learn(lambda: x[index])
    assert misses(lambda: x[index]) == 0
    for cut in (2.0, 4.0):
        assert x[x > cut].tolist() == [v for v in range(6) if v > cut]


def test_out_arguments_are_resized_as_eager_does():
    a, b = torch.randn(3, 4), torch.randn(3, 4)
    x, y = a.to(DEVICE), b.to(DEVICE)
    for _ in range(4):
        out = torch.empty(0, device=DEVICE)
        assert torch.add(x, y, out=out) is out
        assert out.shape == (3, 4) and torch.equal(out.cpu(), a + b)
