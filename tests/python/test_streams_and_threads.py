"""Order across streams, events and threads."""
import threading

import pytest
import torch

from surface import DEVICE, same_as_cpu


def chain(x, n=50):
    for _ in range(n):
        x = x * 0.5 + 1
    return x


def test_streams_are_ordered_by_the_buffers_they_share():
    side = torch.Stream(device=DEVICE)
    x = torch.arange(1000.0, device=DEVICE)
    for _ in range(4):
        y = chain(x)
        with side:
            z = chain(y)
            z.add_(y)
        w = z * 2
        expected = chain(chain(torch.arange(1000.0))) + chain(torch.arange(1000.0))
        assert torch.equal(w.cpu(), expected * 2)


def test_a_write_on_another_stream_comes_after_the_reads():
    side = torch.Stream(device=DEVICE)
    for i in range(5):
        x = torch.full((512,), float(i), device=DEVICE)
        y = chain(x)
        with side:
            x.fill_(-1)
        assert torch.equal(y.cpu(), chain(torch.full((512,), float(i))))
        assert x[0].item() == -1


def test_events():
    side = torch.Stream(device=DEVICE)
    start, end = (torch.Event(DEVICE, enable_timing=True) for _ in range(2))
    x = torch.ones(100, device=DEVICE)
    start.record()
    y = chain(x)
    end.record()
    side.wait_event(end)
    with side:
        z = y + 1
    end.synchronize()
    assert end.query() and start.elapsed_time(end) >= 0
    assert torch.equal(z.cpu(), chain(torch.ones(100)) + 1)


@pytest.mark.parametrize("own_stream", [False, True])
def test_threads_share_weights(own_stream):
    weight = torch.randn(16, 16, generator=torch.Generator().manual_seed(0)) * 0.1
    shared = weight.to(DEVICE)
    results = [None] * 4

    def work(k):
        if own_stream:
            torch.accelerator.set_stream(torch.Stream(device=DEVICE))
        h = torch.full((2, 16), float(k), device=DEVICE)
        for _ in range(60):
            h = torch.tanh(h @ shared) + k
        results[k] = h

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    for k, got in enumerate(results):
        h = torch.full((2, 16), float(k))
        for _ in range(60):
            h = torch.tanh(h @ weight) + k
        assert torch.equal(got.cpu(), h)


def test_threads_that_come_and_go():
    """A thread that ends waits for its work, and must not run it: its thread-local objects may be gone already."""
    weight = torch.randn(16, 16, generator=torch.Generator().manual_seed(0)) * 0.1
    shared = weight.to(DEVICE)
    h = torch.ones(2, 16)
    for _ in range(30):
        h = torch.tanh(h @ weight) + 0.5

    def work(results):
        g = torch.ones(2, 16, device=DEVICE)
        for _ in range(30):
            g = torch.tanh(g @ shared) + 0.5
        results.append(g)

    for _ in range(40):
        results = []
        threads = [threading.Thread(target=work, args=(results,)) for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        assert all(torch.equal(got.cpu(), h) for got in results) and len(results) == 4


def test_tensors_handed_between_threads_are_whole():
    x = torch.zeros(64, device=DEVICE)
    turns = 40

    def work(parity, mine, other):
        for i in range(turns):
            mine.wait()
            mine.clear()
            x.add_(i + parity)
            x.mul_(1.0)
            other.set()

    a, b = threading.Event(), threading.Event()
    threads = [threading.Thread(target=work, args=p) for p in ((0, a, b), (1, b, a))]
    a.set()
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert x.tolist() == [float(sum(2 * i + 1 for i in range(turns)))] * 64


def test_random_numbers_keep_program_order_across_streams():
    def program(device):
        out = []
        side = torch.Stream(device=device) if device == DEVICE else None
        for i in range(6):
            if side is not None and i % 2:
                with side:
                    out.append(torch.rand(5, device=device))
            else:
                out.append(torch.rand(5, device=device))
        return out

    same_as_cpu(program)


def test_training_is_bit_identical():
    def program(device):
        torch.manual_seed(3)
        layers = torch.nn.Linear(8, 32), torch.nn.GELU(), torch.nn.LayerNorm(32), torch.nn.Linear(32, 4)
        model = torch.nn.Sequential(*layers).to(device)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        losses = []
        for step in range(12):
            x = torch.randn(16, 8, generator=torch.Generator().manual_seed(step)).to(device)
            loss = torch.nn.functional.cross_entropy(model(x), torch.arange(16, device=device) % 4)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        return losses + list(model.parameters())

    same_as_cpu(program)
