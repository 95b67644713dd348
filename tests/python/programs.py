"""What the tests of composite operators share: programs that run on the CPU and on the device, compared bit by bit."""
import contextlib

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence
from torch.utils import _pytree as pytree

from surface import DEVICE, bits


def exact(program, seed=0):
    """Runs program(device) on the CPU, and twice on the device: the first run of an operator is not like the others."""
    torch.manual_seed(seed)
    expected = pytree.tree_leaves(program("cpu"))
    for _ in range(2):
        torch.manual_seed(seed)
        actual = pytree.tree_leaves(program(DEVICE))
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected):
            if not isinstance(other, torch.Tensor):
                assert one == other
                continue
            assert one.device.type == DEVICE
            assert (one.dtype, one.shape, one.stride()) == (other.dtype, other.shape, other.stride())
            assert torch.equal(bits(one), bits(other))


def same_error(program):
    """Both devices raise the same error. Where only values tell, the device may say so at the next wait."""
    with pytest.raises(Exception) as expected:
        program("cpu")
    for _ in range(2):
        with pytest.raises(type(expected.value)) as actual:
            program(DEVICE)
            torch.neuron.synchronize()
        assert str(expected.value).replace("cpu", DEVICE) in str(actual.value)


def tensor(device, *shape, dtype=torch.float32, grad=False):
    return torch.randn(*shape).to(dtype).to(device).requires_grad_(grad)


def gradients(outputs, inputs):
    outputs = [one for one in pytree.tree_leaves(outputs) if one.requires_grad]
    weights = [torch.linspace(-1, 2, one.numel()).view(one.shape).to(one) for one in outputs]
    return torch.autograd.grad(outputs, inputs, weights, allow_unused=True)


NETWORKS = {"LSTM": nn.LSTM, "GRU": nn.GRU, "RNN": nn.RNN}


def run_network(device, kind, grad=True, packed=(), dtype=torch.float32, **options):
    net = NETWORKS[kind](5, 6, dtype=dtype, **options).to(device)
    x = tensor(device, 3, 4, 5, dtype=dtype, grad=grad) if options.get("batch_first") else tensor(
        device, 4, 3, 5, dtype=dtype, grad=grad)
    data = x
    if packed:
        data = pack_padded_sequence(x, torch.tensor(packed), batch_first=options.get("batch_first", False))
    torch.manual_seed(1)
    with contextlib.nullcontext() if grad else torch.no_grad():
        out, state = net(data)
    results = [out.data if packed else out, state]
    return [results, gradients(results, [x, *net.parameters()])] if grad else results
