"""Warnings: those of the call come from the call; those that kernels give on the device come at the next wait."""
import warnings

import pytest
import torch

from surface import DEVICE, in_child


@pytest.fixture(autouse=True)
def not_only_once():
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(False)


def caught(call):
    """The texts of the warnings that a call and the wait after it give."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
        torch.neuron.synchronize()
    return [str(one.message).replace(DEVICE, "cpu") for one in found]


WARNING = {
    "resized out": lambda device: torch.add(torch.ones(3, device=device), 1, out=torch.ones(7, device=device)),
    "complex to real": lambda device: torch.ones(2, dtype=torch.complex64, device=device).float(),
    "deviation of one": lambda device: torch.std(torch.ones(1, device=device)),
    "lazy gradient": lambda device: (torch.ones(2, device=device, requires_grad=True) * 1).grad,
}


@pytest.mark.parametrize("name", WARNING)
def test_the_same_warnings_as_on_the_cpu(name):
    expected = caught(lambda: WARNING[name]("cpu"))
    assert len(expected) == 1
    for _ in range(4):  # the first run of an operation is not like the others
        assert caught(lambda: WARNING[name](DEVICE)) == expected


def test_they_can_be_errors_and_are_told_once():
    x = torch.ones(1, device=DEVICE)
    for _ in range(3):
        caught(lambda: torch.std(x))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="degrees of freedom"):
            torch.std(x)
            torch.neuron.synchronize()
        torch.neuron.synchronize()
    assert caught(lambda: None) == []


@in_child(TORCH_NEURON_VERIFY="0")
def test_those_of_the_device_come_at_the_next_wait():
    x = torch.ones(1, device=DEVICE)
    for _ in range(3):
        caught(lambda: torch.std(x))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        y = torch.std(x)
        at_the_call = len(found)
        y.item()
    assert (at_the_call, len(found)) == (0, 1)
