"""Memory: statistics match what was recorded, out of memory comes from the call, and what is free goes back."""
import gc
import os

import pytest
import torch

from surface import DEVICE, in_child

MIB = 1 << 20


def counted(*numbers_of_bytes):
    """Bytes are counted in units of 64."""
    return sum(-(-n // 64) * 64 for n in numbers_of_bytes)


def statistics():
    gc.collect()
    torch.neuron.synchronize()
    return torch.neuron.memory_stats()


@pytest.fixture(autouse=True)
def started():
    torch.neuron.init()  # there are no statistics before the first use


def grown(before, name):
    return statistics()[name] - before[name]


def test_every_tensor_is_counted_from_its_call():
    before = statistics()
    x = torch.ones(1000, device=DEVICE)
    y = x * 2
    z = (y[10:20], y.view(10, 100), y.t(), y.detach())  # views are free
    half = torch.zeros(3, 5, dtype=torch.bfloat16, device=DEVICE)
    assert torch.neuron.memory_allocated() - before["allocated_bytes.all.current"] == counted(4000, 4000, 30)
    assert grown(before, "allocation.all.current") == 3
    del y
    assert grown(before, "allocated_bytes.all.current") == counted(4000, 4000, 30)
    del z, half
    assert grown(before, "allocated_bytes.all.current") == counted(4000) and x[0].item() == 1


def test_totals_and_peaks():
    before = statistics()
    torch.neuron.reset_peak_memory_stats()
    for _ in range(5):
        torch.empty(MIB, dtype=torch.uint8, device=DEVICE)
    x = torch.empty(3 * MIB, dtype=torch.uint8, device=DEVICE)
    start = before["allocated_bytes.all.current"]
    assert torch.neuron.max_memory_allocated() == start + 3 * MIB
    assert grown(before, "allocated_bytes.all.allocated") == 8 * MIB
    assert grown(before, "allocated_bytes.all.freed") == 5 * MIB
    assert grown(before, "allocation.all.allocated") == 6
    torch.neuron.reset_accumulated_memory_stats()
    assert statistics()["allocated_bytes.all.freed"] == 0
    del x
    torch.neuron.synchronize()
    torch.neuron.reset_peak_memory_stats()
    assert torch.neuron.max_memory_allocated() == torch.neuron.memory_allocated() == start


def test_a_training_step_leaves_nothing():
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters())

    def step():
        optimizer.zero_grad()
        model(torch.ones(16, 32, device=DEVICE)).pow(2).mean().backward()
        optimizer.step()

    step()
    before = statistics()
    for _ in range(5):
        step()
    assert grown(before, "allocated_bytes.all.current") == 0
    assert grown(before, "allocation.all.current") == 0
    parameters = sum(counted(4 * p.numel()) for p in model.parameters())
    optimizer.zero_grad()
    assert grown(before, "allocated_bytes.all.current") == -parameters  # the gradients


def test_resizing_a_storage():
    before = statistics()
    x = torch.ones(1000, device=DEVICE)
    x.untyped_storage().resize_(0)
    assert grown(before, "allocated_bytes.all.current") == 0
    x.untyped_storage().resize_(4000)
    assert grown(before, "allocated_bytes.all.current") == counted(4000)
    assert x.fill_(2).sum().item() == 2000


@pytest.mark.parametrize("call", [
    lambda total: torch.empty(2 * total, dtype=torch.uint8, device=DEVICE),
    lambda total: torch.ones(1, device=DEVICE).expand(total).contiguous(),
    lambda total: torch.ones(1, dtype=torch.uint8, device=DEVICE).repeat(2 * total),
    lambda total: torch.ones(total // 1024, 1, device=DEVICE) @ torch.ones(1, 2048, device=DEVICE),
    lambda total: torch.empty(0, device=DEVICE).resize_(total),
], ids=["empty", "contiguous", "repeat", "mm", "resize"])
def test_out_of_memory_comes_from_the_call(call):
    keep = torch.arange(5.0, device=DEVICE)
    pending = keep * 3
    before = statistics()
    for _ in range(2):
        with pytest.raises(torch.OutOfMemoryError, match="memory"):
            call(torch.neuron.mem_get_info()[1])
    torch.neuron.synchronize()
    assert grown(before, "allocated_bytes.all.current") == 0
    assert pending.tolist() == [0, 3, 6, 9, 12] and (keep + 1).sum().item() == 15


def test_out_of_memory_in_a_step_and_then_a_smaller_one():
    weight = torch.ones(64, 64, device=DEVICE, requires_grad=True)
    free, total = torch.neuron.mem_get_info()
    torch.neuron.set_per_process_memory_fraction((total - free + 8 * MIB) / total)

    def step(batch):
        h = torch.ones(batch, 64, device=DEVICE)
        for _ in range(8):
            h = (h @ weight / 64).tanh()
        (slope,) = torch.autograd.grad(h.sum(), weight)
        return slope

    try:
        with pytest.raises(torch.OutOfMemoryError):
            step(16384)
        gc.collect()
        got = step(4)
    finally:
        torch.neuron.set_per_process_memory_fraction(1.0)
    assert torch.equal(got.cpu(), step(4).cpu())


def test_memory_of_finished_work_is_found_before_out_of_memory():
    free, total = torch.neuron.mem_get_info()
    torch.neuron.set_per_process_memory_fraction((total - free + 4 * MIB) / total)
    try:
        x = torch.ones(MIB // 4, device=DEVICE)
        for _ in range(100):
            x = x + 1  # a hundred MiB in all, two at a time
        assert x[0].item() == 101
    finally:
        torch.neuron.set_per_process_memory_fraction(1.0)


@in_child(TORCH_NEURON_MEMORY_BYTES=str(8 * MIB))
def test_the_size_of_a_device():
    assert torch.neuron.mem_get_info()[1] == torch.neuron.get_device_properties().total_memory == 8 * MIB
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(9 * MIB, dtype=torch.uint8, device=DEVICE)
    x = torch.ones(MIB, device=DEVICE)
    with pytest.raises(torch.OutOfMemoryError):
        [x + i for i in range(3)]
    assert (x[:3] + 1).tolist() == [2, 2, 2]


def resident():
    """Bytes of host memory that this process holds."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_empty_cache_gives_memory_back():
    x = torch.ones(64 * MIB // 4, device=DEVICE)
    torch.neuron.synchronize()
    held, reserved = resident(), torch.neuron.memory_reserved()
    del x
    torch.neuron.synchronize()
    torch.neuron.empty_cache()
    assert reserved - torch.neuron.memory_reserved() >= 60 * MIB
    assert held - resident() >= 48 * MIB
