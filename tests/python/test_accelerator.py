"""torch.accelerator: every public function answers for the device, as torch.neuron does."""
import pytest
import torch

from surface import DEVICE

accelerator = torch.accelerator


def test_no_function_is_forgotten():
    tested = {
        "is_available", "current_accelerator", "device_count", "current_device_index", "current_device_idx",
        "set_device_index", "set_device_idx", "device_index", "current_stream", "set_stream", "synchronize",
        "get_device_capability", "get_memory_info", "memory_allocated", "max_memory_allocated", "memory_reserved",
        "max_memory_reserved", "memory_stats", "reset_peak_memory_stats", "reset_accumulated_memory_stats",
        "empty_cache", "empty_host_cache", "Graph",
    }
    assert set(accelerator.__all__) - {"cache"} <= tested


def test_the_device_is_the_accelerator():
    assert accelerator.is_available() and accelerator.current_accelerator() == torch.device(DEVICE)
    assert accelerator.current_accelerator(check_available=True) == torch.device(DEVICE)
    assert accelerator.device_count() == torch.neuron.device_count()
    assert torch.get_device_module() is torch.get_device_module(DEVICE) is torch.neuron


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_the_current_device():
    accelerator.set_device_index(0)
    accelerator.set_device_idx(f"{DEVICE}:0")
    assert accelerator.current_device_index() == accelerator.current_device_idx() == 0
    with accelerator.device_index(0), accelerator.device_index(None):
        assert accelerator.current_device_index() == 0
    for wrong in 99, "cpu":
        with pytest.raises((RuntimeError, ValueError)):
            accelerator.set_device_index(wrong)


def test_streams():
    before = accelerator.current_stream()
    side = torch.Stream(device=DEVICE)
    accelerator.set_stream(side)
    try:
        assert accelerator.current_stream() == side == torch.neuron.current_stream() != before
        x = torch.ones(3, device=DEVICE) + 1
        accelerator.synchronize()
        assert side.query() and x.tolist() == [2, 2, 2]
    finally:
        accelerator.set_stream(before)
    with side as entered:
        assert accelerator.current_stream(0) == entered
    assert accelerator.current_stream(DEVICE) == before
    accelerator.synchronize(0)
    accelerator.synchronize(f"{DEVICE}:0")


def test_capability():
    types = accelerator.get_device_capability()["supported_dtypes"]
    assert {torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.bool, torch.complex64} <= types


def test_memory_functions():
    before = accelerator.memory_allocated()
    accelerator.reset_peak_memory_stats()
    accelerator.reset_accumulated_memory_stats()
    x = torch.ones(1000, device=DEVICE)
    assert accelerator.memory_allocated() - before == 4032  # counted in units of 64 bytes
    assert accelerator.max_memory_allocated() >= before + 4032
    assert accelerator.max_memory_reserved() >= accelerator.memory_reserved() >= accelerator.memory_allocated()
    assert accelerator.memory_stats()["allocated_bytes.all.current"] == accelerator.memory_allocated()
    free, total = accelerator.get_memory_info()
    assert total - free == accelerator.memory_allocated()
    del x
    accelerator.synchronize()
    accelerator.empty_cache()
    accelerator.empty_host_cache()
    assert accelerator.memory_allocated() == before


def test_graphs_are_refused():
    with pytest.raises(RuntimeError, match=f"not supported on device type.*{DEVICE}"):
        accelerator.Graph()
