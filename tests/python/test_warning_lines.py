"""Warnings of ops that ran on the device: given at the next waiting call, with the line of the user that waits."""
import inspect
import warnings

import pytest
import torch

from surface import DEVICE

TEXT = "degrees of freedom"


def line():
    return inspect.currentframe().f_back.f_lineno


@pytest.fixture
def spread():
    """A deviation that warns when it runs; its layout is known, so that it runs on the device."""
    one = torch.ones(1, device=DEVICE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            one.std()
        torch.neuron.synchronize()
    return one.std


@pytest.mark.parametrize("wait", [
    lambda result: (result.item(), line())[1],
    lambda result: (result.cpu(), line())[1],
    lambda result: (torch.neuron.synchronize(), line())[1],
    lambda result: (torch.accelerator.synchronize(), line())[1],
    lambda result: (torch.neuron.current_stream().synchronize(), line())[1],
    lambda result: (repr(result), line())[1],
])
def test_a_warning_names_the_line_that_waits(spread, wait):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        called = line() + 1
        expected = {called, wait(spread())}  # verify mode runs the op at the call
    (warning,) = caught
    assert TEXT in str(warning.message) and issubclass(warning.category, UserWarning)
    assert warning.filename == __file__ and warning.lineno in expected


def test_text_and_category_are_those_of_eager(spread):
    texts = []
    for call in torch.ones(1).std, spread:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call().item()
        texts += [(warning.category, str(warning.message)) for warning in caught]
    assert len(texts) == 2 and texts[0] == texts[1]


def test_filters_find_the_module_of_the_user(spread):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", module=__name__)
        spread().item()
    assert not caught


@pytest.mark.parametrize("wait", [torch.Tensor.item, lambda result: torch.neuron.synchronize()])
def test_warnings_as_errors(spread, wait):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match=TEXT):
            wait(spread())
        torch.neuron.synchronize()  # once
        assert (torch.ones(1, device=DEVICE) + 1).item() == 2
