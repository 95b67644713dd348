"""Failures that only values show: where they surface, what they carry, and that work goes on."""
import re
import threading

import pytest
import torch

from surface import DEVICE


def index_out_of_range(x):
    """A gather that fails when it runs; its layouts are known after the good calls."""
    good = torch.zeros(2, dtype=torch.int64, device=DEVICE)
    for _ in range(3):
        torch.gather(x, 0, good) + 1
        good + 7
    torch.neuron.synchronize()
    return torch.gather(x, 0, good + 7)


@pytest.fixture(autouse=True)
def nothing_left_over():
    yield
    try:
        torch.neuron.synchronize()
    except RuntimeError:
        pass


def test_it_surfaces_at_the_next_sync_point_once():
    x = torch.arange(3.0, device=DEVICE)
    try:
        index_out_of_range(x)
        torch.neuron.synchronize()
    except (RuntimeError, IndexError) as error:
        assert "out of bounds" in str(error)
    else:
        pytest.fail("nothing was raised")
    torch.neuron.synchronize()
    assert (x + 1).tolist() == [1, 2, 3]


def test_dependants_carry_it_and_neighbours_do_not():
    x = torch.arange(3.0, device=DEVICE)
    beside = x * 2
    try:
        bad = index_out_of_range(x)
    except (RuntimeError, IndexError):
        pytest.skip("verify mode raises at the call")
    after = bad + 1
    for tensor in (after, bad, after):
        with pytest.raises((RuntimeError, IndexError), match="out of bounds"):
            tensor.tolist()
    assert beside.tolist() == [0, 2, 4]


def test_it_names_the_op_and_the_line():
    x = torch.arange(3.0, device=DEVICE)
    try:
        bad = index_out_of_range(x)
    except (RuntimeError, IndexError):
        pytest.skip("verify mode raises at the call")
    with pytest.raises((RuntimeError, IndexError)) as caught:
        bad.tolist()
    assert re.search(r"aten::gather at .*test_failures\.py:\d+ in index_out_of_range", str(caught.value))


def test_what_was_only_to_be_written_keeps_its_value():
    x = torch.arange(3.0, device=DEVICE)
    weight = torch.ones(2, device=DEVICE)
    for _ in range(3):
        weight.add_(torch.zeros(2, device=DEVICE))
    try:
        weight.add_(index_out_of_range(x))
        torch.neuron.synchronize()
    except (RuntimeError, IndexError):
        pass
    assert weight.tolist() == [1, 1]
    weight.add_(1)
    assert weight.tolist() == [2, 2]


def test_out_of_memory_comes_from_the_call_and_leaves_all_usable():
    x = torch.ones(1000, device=DEVICE)
    free, total = torch.neuron.mem_get_info()
    with pytest.raises(torch.OutOfMemoryError, match="out of memory|more than"):
        torch.empty(2 * total, dtype=torch.uint8, device=DEVICE)
    assert (x + 1).sum().item() == 2000


def test_an_exception_between_ops_loses_nothing():
    x = torch.ones(4, device=DEVICE)
    for i in range(5):
        try:
            x = x + 1
            if i % 2:
                raise ValueError
            x + torch.ones(3, device=DEVICE)
        except (ValueError, RuntimeError):
            pass
    assert x.tolist() == [6] * 4


def test_another_thread_that_is_told_does_not_know_for_the_first():
    x, written = torch.arange(3.0, device=DEVICE), torch.zeros(3, device=DEVICE)
    good, bad = (torch.tensor(values, device=DEVICE) for values in ([0, 1, 2], [7, 7, 7]))
    for _ in range(3):
        written.add_(torch.gather(x, 0, good)).zero_()
    torch.neuron.synchronize()
    told = []

    def wait():
        try:
            torch.neuron.synchronize()
        except RuntimeError as error:
            told.append(error)

    try:
        written.add_(torch.gather(x, 0, bad))
    except RuntimeError:
        return  # verify mode raises at the call
    other = threading.Thread(target=wait)
    other.start()
    other.join()
    assert len(told) == 1
    with pytest.raises(RuntimeError, match="out of bounds"):
        written.tolist()
    assert written.tolist() == [0, 0, 0]
