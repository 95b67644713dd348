"""Corners that random programs found: behaviour that eager shows only on empty tensors, views or failing calls."""
import pytest
import torch

from programs import exact


def outcome(call):
    """The result of a call, or the text of its error."""
    try:
        return call()
    except (RuntimeError, NotImplementedError) as error:
        return str(error)


def test_ldexp_makes_the_choice_of_the_cpu():
    def program(device):
        x = torch.tensor([1e-30, 3.0, 1e30], device=device)
        exponent = torch.tensor([150, -149, -200], device=device)
        return [torch.ldexp(x, exponent), outcome(lambda: torch.ldexp(x, exponent > 0)), x.ldexp_(exponent)]

    exact(program)


@pytest.mark.parametrize("target, source", [((1, 0, 4), (0, 2)), ((0, 2), (5, 0, 2)), ((5, 0, 2), (0, 2))])
def test_a_copy_between_empty_tensors_checks_shapes(target, source):
    def program(device):
        return [outcome(lambda: torch.zeros(target, device=device).copy_(torch.zeros(source, device=device)))]

    exact(program)


def test_empty_operands_of_one_buffer_do_not_overlap():
    def program(device):
        x = torch.zeros(0, device=device)
        index = torch.tensor([], dtype=torch.int64, device=device)
        return [outcome(lambda: x.put_(index, x[:2])) for _ in range(4)]

    exact(program)


def test_an_out_tensor_that_a_failing_call_resized():
    def program(device):
        x, out = torch.ones(5, 3, device=device), torch.zeros(0, device=device)
        return [outcome(lambda: torch.bitwise_or(x, x, out=out)), list(out.shape)]

    exact(program)


def test_data_of_a_negative_view_is_replaced_without_a_copy():
    def program(device):
        x = torch._neg_view(torch.ones(4, dtype=torch.bool, device=device))
        x.data = torch.zeros(4, device=device)
        return [x]

    exact(program)
