"""docs/support.md: what works and what refuses, beyond what other files test."""
from multiprocessing.reduction import ForkingPickler

import pytest
import torch
import torch.multiprocessing  # it teaches the pickler tensors
import torch.nn.functional as F
from torch import nn

from programs import exact, gradients, tensor
from surface import DEVICE


def refuses_naming_the_device(call):
    for _ in range(2):
        with pytest.raises(NotImplementedError, match=DEVICE):
            call()
            torch.neuron.synchronize()


def test_sparse_gradients_are_refused():
    for kind in nn.Embedding, nn.EmbeddingBag:
        layer = kind(5, 3, sparse=True, **({"mode": "sum"} if kind is nn.EmbeddingBag else {})).to(DEVICE)
        out = layer(torch.tensor([[1, 2]], device=DEVICE))
        refuses_naming_the_device(lambda: out.sum().backward(retain_graph=True))
        assert layer.weight.grad is None


KINDS = {
    "COO": lambda: torch.eye(4).to_sparse(),
    "CSR": lambda: torch.eye(4).to_sparse_csr(),
    "CSC": lambda: torch.eye(4).to_sparse_csc(),
    "BSR": lambda: torch.eye(4).to_sparse_bsr((2, 2)),
    "BSC": lambda: torch.eye(4).to_sparse_bsc((2, 2)),
    "oneDNN": lambda: torch.eye(4).to_mkldnn(),
    "quantized": lambda: torch.quantize_per_tensor(torch.eye(4), 0.1, 0, torch.quint8),
    "quantized by channel": lambda: torch.quantize_per_channel(
        torch.eye(4), torch.ones(4) / 9, torch.zeros(4), 0, torch.qint8),
    "nested": lambda: torch.nested.nested_tensor([torch.ones(2)]),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_tensors_of_other_kinds_are_not_moved(kind):
    tensor = KINDS[kind]()
    refuses_naming_the_device(lambda: tensor.to(DEVICE))
    refuses_naming_the_device(lambda: tensor.neuron())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["CSR", "CSC", "BSR", "BSC"])
def test_copies_of_compressed_tensors_on_the_cpu_are_pytorchs(kind):
    tensor = KINDS[kind]()
    for copy in tensor.to(torch.float64), tensor.to("cpu", copy=True), tensor.double().requires_grad_().float():
        assert copy.layout == tensor.layout and torch.equal(copy.detach().to_dense().float(), torch.eye(4))
    assert tensor.to("meta").is_meta


def test_fake_quantization_works():
    def program(device):
        x = tensor(device, 4, 6, grad=True)
        scale, zero = torch.full((6,), 0.1, device=device), torch.zeros(6, dtype=torch.int32, device=device)
        outs = [
            torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127),
            torch.fake_quantize_per_channel_affine(x, scale, zero, 1, -128, 127),
        ]
        return [*outs, *gradients(outs, [x])]

    exact(program)


def test_a_tensor_is_not_sent_to_another_process():
    with pytest.raises(RuntimeError, match="CPU|cpu"):
        ForkingPickler.dumps(torch.ones(2, device=DEVICE))
    assert ForkingPickler.dumps(torch.ones(2))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_torchscript():
    def program(device):
        layer = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.BatchNorm1d(5)).to(device).eval()
        x = tensor(device, 3, 4)
        return [torch.jit.script(layer)(x), torch.jit.trace(layer, x)(x), torch.jit.freeze(torch.jit.script(layer))(x)]

    exact(program)


def test_jagged_tensors_train():
    def program(device):
        values, weight = tensor(device, 7, 4, grad=True), tensor(device, 4, 3, grad=True)
        nested = torch.nested.nested_tensor_from_jagged(values, torch.tensor([0, 2, 7]).to(device))
        out = F.relu(nested @ weight)
        return out.values(), gradients(out.values(), [values, weight])

    exact(program)
