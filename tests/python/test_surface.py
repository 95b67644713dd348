"""torch.neuron as programs know other devices' modules: devices, streams, memory, random numbers, the engine."""
import gc

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

from surface import DEVICE, python, same_as_cpu

MIB = 1 << 20


def test_generated_methods():
    assert torch.ones(2).neuron().is_neuron and nn.Linear(2, 2).neuron().weight.is_neuron
    assert torch.ones(2).untyped_storage().neuron().is_neuron
    assert nn.utils.rnn.pack_sequence([torch.ones(2), torch.ones(1)]).neuron().is_neuron


def test_devices():
    neuron = torch.neuron
    assert neuron.is_available() and neuron.device_count() >= 1
    assert torch.accelerator.current_accelerator().type == DEVICE
    with neuron.device(0), neuron.device_of(torch.ones(1)), neuron.device_of(torch.ones(1, device=DEVICE)):
        assert neuron.current_device() == 0
    properties = neuron.get_device_properties()
    assert properties.name == neuron.get_device_name(0) and properties.total_memory == neuron.mem_get_info()[1]
    assert torch.bfloat16 in neuron.get_device_capability()["supported_dtypes"]
    for wrong in 99, "cpu", "neuron:99":
        with pytest.raises((RuntimeError, ValueError)):
            neuron.set_device(wrong)
        with pytest.raises((RuntimeError, ValueError)):
            neuron.get_device_properties(wrong)


def test_two_devices():
    code = """if True:
        import torch
        with torch.neuron.device(1):
            x = torch.arange(4.0, device="neuron")
            s = torch.neuron.Stream()
        assert x.device.index == s.device_index == 1 and torch.neuron.current_device() == 0
        with torch.neuron.stream(s):
            assert torch.neuron.current_device() == 1 and torch.neuron.current_stream() == s
        assert torch.neuron.current_stream(1) != s and torch.neuron.current_device() == 0
        print((x.to("neuron:0") + 1).tolist(), len(torch.neuron.get_rng_state_all()))
    """
    assert python(code, TORCH_NEURON_DEVICE_COUNT="2")[:2] == (0, "[1.0, 2.0, 3.0, 4.0] 2")


def test_streams_and_events():
    neuron = torch.neuron
    side, main = neuron.Stream(), neuron.current_stream()
    assert main == neuron.default_stream() and side.device.type == DEVICE
    x = torch.ones(100, device=DEVICE)
    side.wait_stream(main)
    begin, end = neuron.Event(enable_timing=True), neuron.Event(enable_timing=True)
    with neuron.stream(side) as current:
        begin.record()
        y = x * 2
        end.record()
        assert current == side == neuron.current_stream()
        with neuron.stream(None):
            assert neuron.current_stream() == side
    assert neuron.current_stream() == main
    main.wait_event(end)
    assert (y + 1).sum().item() == 300
    end.synchronize()
    assert end.query() and begin.elapsed_time(end) >= 0
    neuron.synchronize(0)
    assert side.query()


def test_a_stream_context_can_be_entered_again():
    context = torch.neuron.stream(torch.neuron.Stream())
    with context:
        with context:
            pass
        assert torch.neuron.current_stream() == context.stream
    assert torch.neuron.current_stream() == torch.neuron.default_stream()


def test_memory_statistics():
    neuron = torch.neuron
    gc.collect()
    before = neuron.memory_allocated()
    x = torch.empty(4 * MIB, dtype=torch.uint8, device=DEVICE)
    assert neuron.memory_allocated() >= before + 4 * MIB
    neuron.reset_peak_memory_stats()
    torch.empty(8 * MIB, dtype=torch.uint8, device=DEVICE)
    assert neuron.max_memory_allocated() >= before + 12 * MIB
    assert neuron.memory_reserved() >= neuron.memory_allocated() and neuron.memory_stats()
    assert "neuron:0" in neuron.memory_summary() and "count" not in neuron.memory_summary(abbreviated=True)
    del x
    neuron.synchronize()
    neuron.empty_cache()
    neuron.empty_host_cache()
    assert neuron.memory_allocated() == before


def test_memory_statistics_count_tensors():
    neuron = torch.neuron
    gc.collect()
    neuron.synchronize()

    def count(column):
        stats = neuron.memory_stats()
        assert stats == torch.accelerator.memory_stats()
        assert stats[f"active.all.{column}"] == stats[f"allocation.all.{column}"]
        return stats[f"allocation.all.{column}"]

    before = count("current")
    kept = [torch.empty(5, device=DEVICE) for _ in range(3)]
    assert count("current") == before + 3 and count("peak") >= before + 3
    assert f"{before + 3:,}" in neuron.memory_summary().split("tensors, count")[1].splitlines()[0]
    neuron.reset_accumulated_memory_stats()
    assert count("allocated") == count("freed") == 0
    kept[0] = torch.empty(5, device=DEVICE)
    assert (count("allocated"), count("freed"), count("current")) == (1, 1, before + 3)
    del kept
    assert (count("freed"), count("current")) == (4, before)


def test_memory_limit():
    neuron = torch.neuron
    total = neuron.mem_get_info()[1]
    size = total // 100
    neuron.set_per_process_memory_fraction(0.001)
    try:
        assert neuron.mem_get_info()[1] == neuron.get_device_properties().total_memory == total
        neuron.set_per_process_memory_fraction(0.001)  # of the device's memory, not of the limit before
        with pytest.raises(torch.OutOfMemoryError):
            torch.empty(size, dtype=torch.uint8, device=DEVICE)
        assert (torch.ones(2, device=DEVICE) + 1).tolist() == [2.0, 2.0]
    finally:
        neuron.set_per_process_memory_fraction(1.0)
    torch.empty(size, dtype=torch.uint8, device=DEVICE)
    with pytest.raises(ValueError):
        neuron.set_per_process_memory_fraction(2)


def test_the_numbers_of_the_cpu():
    def draw(device):
        ones = torch.ones(9, device=device)
        return [
            torch.randn(5, device=device), torch.randint(10, (4,), device=device), torch.randperm(7, device=device),
            torch.bernoulli(ones / 2), F.dropout(ones), torch.multinomial(ones, 3), torch.rand(3, device=device),
        ]

    same_as_cpu(draw)


def test_generator_state():
    neuron = torch.neuron
    neuron.manual_seed(3)
    state, first = neuron.get_rng_state(), torch.rand(3, device=DEVICE)
    neuron.set_rng_state(state)
    assert torch.equal(first, torch.rand(3, device=DEVICE)) and neuron.initial_seed() == 3
    state = neuron.get_rng_state()
    with torch.random.fork_rng(devices=[0], device_type=DEVICE):
        neuron.seed_all()
        torch.rand(3, device=DEVICE)
    assert torch.equal(state, neuron.get_rng_state())
    neuron.set_rng_state_all(neuron.get_rng_state_all())
    assert len(neuron.default_generators) == neuron.device_count()


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoint_draws_the_same_mask_again(reentrant):
    def program(device):
        w = torch.ones(16, 16, device=device, requires_grad=True)
        checkpoint(lambda v: F.dropout(v, 0.5) @ v, w, use_reentrant=reentrant).sum().backward()
        return w.grad

    same_as_cpu(program)


def test_mixed_precision():
    def program(device):
        layer, x = nn.Linear(8, 8).to(device), torch.randn(4, 8).to(device)
        optimizer, scaler = torch.optim.SGD(layer.parameters(), lr=0.1), torch.amp.GradScaler(device)
        with torch.autocast(device, dtype=torch.bfloat16):
            y = layer(x)
        scaler.scale(y.float().sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        return y, layer.weight

    same_as_cpu(program)


def test_adaptive_switch():
    @torch.neuron.adaptive_eager(True)
    def inside():
        return torch.neuron.is_adaptive()

    before = torch.neuron.is_adaptive()
    with torch.neuron.adaptive_eager(False):
        assert inside() and not torch.neuron.is_adaptive()
    assert torch.neuron.is_adaptive() == before
    with pytest.raises(TypeError):
        torch.neuron.adaptive_eager(inside)


def test_metrics_and_report():
    before = torch.neuron.metrics()
    torch.ones(2, device=DEVICE) + 1
    torch.neuron.mark_step()
    assert all(type(value) is int for value in before.values())
    assert torch.neuron.metrics()["ops_recorded"] > before["ops_recorded"]
    report = torch.neuron.explain()
    assert str(report) and isinstance(report.dict(), dict)


def test_report_of_a_segment():
    code = """
import torch
x = torch.ones(16, device="neuron")
with torch.neuron.adaptive_eager(True):
    for _ in range(200):
        y = torch.tanh(x * 3) + x
        torch.neuron.mark_step()
    torch.neuron.synchronize()
    sites = torch.neuron.explain().dict()["sites"]
site = sites[0]
print(site["launches"] > 150, site["ops"], site["first"].split()[0], site["last"], site["bytes"], site["live_outs"],
      site["tier"], 0 < site["device_us"], 0 < site["recording_us"])
"""
    want = "True 3 aten::mul.Tensor aten::add.Tensor 256 1 0 True True"
    assert python(code, TORCH_NEURON_VERIFY="0")[:2] == (0, want)
