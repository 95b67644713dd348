"""LSTM, GRU and RNN take the CPU's kernels and cells, forward and backward, padded and packed."""
import pytest
import torch
from torch import nn

from programs import NETWORKS, exact, gradients, run_network, same_error, tensor


@pytest.mark.parametrize("kind", NETWORKS)
@pytest.mark.parametrize("options", [
    {},
    {"num_layers": 2, "bidirectional": True, "batch_first": True},
    {"num_layers": 3, "dropout": 0.3},
    {"bias": False, "bidirectional": True},
    {"packed": (4, 2, 1)},
    {"packed": (4, 3, 2), "num_layers": 2, "bidirectional": True, "dropout": 0.3, "batch_first": True},
    {"packed": (4, 4, 4)},
    {"dtype": torch.bfloat16, "num_layers": 2},
    {"dtype": torch.float64, "batch_first": True},
], ids=lambda options: "-".join(options) or "plain")
@pytest.mark.parametrize("grad", [False, True])
def test_network(kind, options, grad):
    exact(lambda device: run_network(device, kind, grad, **options))


@pytest.mark.parametrize("packed", [(), (4, 2, 1), (4, 4, 4)])
def test_lstm_with_projections(packed):
    exact(lambda device: run_network(device, "LSTM", proj_size=2, num_layers=2, packed=packed))


@pytest.mark.parametrize("packed", [(), (4, 4, 4)])
def test_lstm_without_onednn(packed):
    def program(device):
        with torch.backends.mkldnn.flags(enabled=False):
            return run_network(device, "LSTM", packed=packed, num_layers=2)

    exact(program)


def test_half_lstm_depends_on_grad_mode():
    exact(lambda device: [run_network(device, "LSTM", grad, dtype=torch.float16) for grad in (False, True)])


def test_cells():
    def program(device):
        results = []
        for kind, state in ((nn.LSTMCell, 2), (nn.GRUCell, 1), (nn.RNNCell, 1)):
            cell = kind(5, 6).to(device)
            x = tensor(device, 3, 5, grad=True)
            states = tuple(tensor(device, 3, 6, grad=True) for _ in range(state))
            out = cell(x, states if state == 2 else states[0])
            results += [out, gradients(out, [x, *states, *cell.parameters()])]
        return results

    exact(program)


def test_cells_have_second_derivatives():
    def program(device):
        cell = nn.GRUCell(3, 4).to(device)
        x = tensor(device, 2, 3, grad=True)
        (slope,) = torch.autograd.grad(cell(x).pow(2).sum(), x, create_graph=True)
        return slope, torch.autograd.grad(slope.pow(2).sum(), [x, *cell.parameters()])

    exact(program)


def test_networks_in_transforms():
    def program(device):
        net = nn.GRU(3, 4).to(device)
        x = tensor(device, 5, 2, 3)
        parameters = dict(net.named_parameters())
        slopes = torch.func.grad(lambda p: torch.func.functional_call(net, p, (x,))[0].sum())(parameters)
        with torch.inference_mode():
            return list(slopes.values()), net(x)

    exact(program)


@pytest.mark.parametrize("program", [
    lambda t: torch.lstm_cell(t(2, 3), (t(2, 4), t(2, 4)), t(15, 3), t(16, 4)),
    lambda t: torch.lstm_cell(t(2, 3), (t(2, 4), t(2, 5)), t(16, 3), t(16, 4)),
    lambda t: torch.gru_cell(t(2, 3), t(2, 5), t(12, 3), t(12, 4)),
    lambda t: torch.gru_cell(t(2, 3), t(2, 4), t(12, 3), t(13, 4)),
    lambda t: torch.gru(t(5, 2, 3), t(1, 2, 4), [t(12, 3), t(12, 4), t(12)], True, 1, 0.0, False, False, False),
    lambda t: torch.gru(t(5, 2, 3), t(1, 2, 4), [t(12, 3), t(12, 4)], False, 2, 0.0, False, False, False),
    lambda t: torch.gru(t(5, 2, 3), t(1, 2, 4), [t(12, 3), t(12, 4)], False, 1, 0.0, False, True, False),
    lambda t: torch.lstm(
        t(0, 2, 3), (t(1, 2, 4), t(1, 2, 4)), [t(16, 3), t(16, 4)], False, 1, 0.0, False, False, False
    ),
])
def test_networks_refuse_as_the_cpu_does(program):
    same_error(lambda device: program(lambda *shape: torch.ones(*shape, device=device)))
