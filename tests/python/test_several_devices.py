"""Several emulated devices in one process: what is current, copies from peer to peer, random numbers, memory."""
import io
import threading

import pytest
import torch
from torch import nn

from surface import in_child

three_devices = in_child(TORCH_NEURON_DEVICE_COUNT="3")


def devices():
    return [torch.device("neuron", index) for index in range(3)]


@three_devices
def test_they_are_there():
    assert torch.neuron.device_count() == torch.accelerator.device_count() == 3
    for device in devices():
        assert torch.ones(2, device=device).device == device
        assert torch.neuron.get_device_properties(device).index == device.index
    with pytest.raises(RuntimeError, match="device"):
        torch.ones(1, device="neuron:3")


@three_devices
def test_peer_copies():
    source = torch.arange(24.0).view(4, 6)
    for a in devices():
        for b in devices():
            x = source.to(a)
            y = x.to(b, non_blocking=True)
            assert y.device == b and (y is x) == (a == b) and torch.equal(y.cpu(), source)
            z = torch.zeros(6, 4, dtype=torch.float64, device=b).t()
            z.copy_(x * 2)
            x.fill_(-1)  # comes after the copy has read
            assert torch.equal(z.cpu(), source.double() * 2)


@three_devices
def test_a_chain_of_peer_copies_keeps_order():
    x = torch.zeros(100, device="neuron:0")
    for i in range(60):
        x = (x + i).to(f"neuron:{i % 3}", non_blocking=True)
    assert x.tolist() == [float(sum(range(60)))] * 100


@three_devices
def test_peers_wait_for_each_others_streams():
    a, b = devices()[:2]
    x = torch.ones(1000, device=a)
    ready = torch.Event(a)
    for _ in range(50):
        x = x * 1.5 - 0.5
    ready.record(torch.neuron.current_stream(a))
    side = torch.Stream(device=b)
    side.wait_event(ready)
    with side:
        y = x.to(b) + 1
    side.synchronize()
    assert y.tolist() == [2.0] * 1000


@three_devices
def test_operands_of_two_devices_are_refused():
    x, y = (torch.ones(2, device=device) for device in devices()[:2])
    sums = (lambda: x + y), (lambda: x.add_(y))
    for call in *sums, (lambda: torch.cat([x, y])), (lambda: torch.mm(x[None], y[:, None])):
        with pytest.raises(RuntimeError, match="neuron:[01].*neuron:[01]"):
            call()
    assert (x + torch.tensor(1.0)).tolist() == [2, 2]


@three_devices
def test_the_current_device_and_stream_are_the_threads_own():
    torch.neuron.set_device(2)
    main = torch.neuron.current_stream()
    seen = []

    def work():
        seen.append((torch.neuron.current_device(), torch.neuron.current_stream(2) == main))
        torch.neuron.set_device(1)
        torch.neuron.set_stream(torch.Stream(device="neuron:1"))
        seen.append((torch.empty(1, device="neuron").device.index, torch.neuron.current_stream(1).stream_id != 0))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [(0, True), (1, True)]
    assert torch.neuron.current_device() == 2 and torch.empty(1, device="neuron").device.index == 2
    assert torch.neuron.current_stream(1).stream_id == 0


@three_devices
def test_each_device_has_its_own_stream_and_changes_with_it():
    sides = [torch.Stream(device=device) for device in devices()]
    for side in sides:
        torch.neuron.set_stream(side)
        assert torch.neuron.current_device() == side.device_index
    assert [torch.neuron.current_stream(device) for device in devices()] == sides
    with torch.neuron.device(0), torch.neuron.stream(torch.neuron.default_stream(1)):
        assert torch.neuron.current_device() == 1
    assert torch.neuron.current_device() == 2


@three_devices
def test_a_model_in_pieces():
    def program(first, second):
        torch.manual_seed(0)
        lower, upper = nn.Linear(4, 8).to(first), nn.Linear(8, 2).to(second)
        x = torch.linspace(-1, 1, 12).view(3, 4).to(first).requires_grad_()
        loss = upper(lower(x).relu().to(second)).pow(2).sum()
        loss.backward()
        return [t.detach().cpu() for t in (loss, x.grad, lower.weight.grad, upper.weight.grad)]

    for got, want in zip(program("neuron:2", "neuron:1"), program("cpu", "cpu")):
        assert torch.equal(got, want)


@three_devices
def test_random_numbers_of_each():
    torch.manual_seed(7)
    want = torch.rand(4)
    torch.manual_seed(7)
    assert all(torch.equal(torch.rand(4, device=device).cpu(), want) for device in devices())
    state = torch.neuron.get_rng_state(1)
    with torch.random.fork_rng(devices=[0, 1], device_type="neuron"):
        torch.rand(9, device="neuron:1")
    assert torch.equal(torch.neuron.get_rng_state(1), state)
    torch.rand(1, device="neuron:2")
    assert torch.equal(torch.neuron.get_rng_state(1), state)
    assert not torch.equal(torch.neuron.get_rng_state(2), state)


@three_devices
def test_memory_of_each():
    def allocated():
        return [torch.neuron.memory_allocated(device) for device in devices()]

    before = allocated()
    x = torch.ones(256, device="neuron:1")
    assert [now - then for now, then in zip(allocated(), before)] == [0, 1024, 0]
    y = x.to("neuron:2")
    torch.neuron.set_per_process_memory_fraction(1e-5, 2)
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(1 << 24, dtype=torch.uint8, device="neuron:2")
    z = torch.empty(1 << 24, dtype=torch.uint8, device="neuron:1")
    assert (y + 1).tolist() == [2.0] * 256 and z.numel() == 1 << 24
    torch.neuron.set_per_process_memory_fraction(1.0, 2)
    assert torch.neuron.memory_stats(2)["num_ooms"] == 1 and torch.neuron.memory_stats(1)["num_ooms"] == 0


@three_devices
def test_loading_to_another_device():
    file = io.BytesIO()
    torch.save([torch.arange(3.0, device="neuron:2"), nn.Linear(2, 2).to("neuron:1").state_dict()], file)
    for where, wanted in (None, (2, 1)), ("neuron:1", (1, 1)), ({"neuron:2": "neuron:0"}, (0, 1)):
        file.seek(0)
        tensor, state = torch.load(file, map_location=where)
        assert (tensor.device.index, state["weight"].device.index) == wanted and tensor.tolist() == [0, 1, 2]


@three_devices
def test_synchronizing_one_raises_its_own_failure_only():
    x, index = torch.arange(3.0, device="neuron:1"), torch.tensor([0], device="neuron:1")
    for _ in range(3):
        torch.gather(x, 0, index)
    torch.neuron.synchronize(1)
    caught = []
    try:
        torch.gather(x, 0, index + 9)
        torch.neuron.synchronize(0)
        torch.neuron.synchronize(2)
        torch.neuron.synchronize(1)
    except (RuntimeError, IndexError) as error:
        caught.append(str(error))
    assert len(caught) == 1 and "out of bounds" in caught[0]
    torch.neuron.synchronize(1)
