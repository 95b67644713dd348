"""Composite operators that choose by device make the CPU's choice: the smallest programs that would differ."""
import contextlib

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.utils.rnn import pack_padded_sequence
from torch.testing import assert_close
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


# Attention

MASKS = {
    "none": lambda d, dtype: None,
    "bool": lambda d, dtype: (torch.rand(9, 11) > 0.3).to(d),
    "float": lambda d, dtype: torch.randn(2, 1, 9, 11).to(dtype).to(d),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64], ids=str)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("grad", [False, True])
def test_attention(dtype, mask, grad):
    def program(device):
        q = tensor(device, 2, 4, 9, 16, dtype=dtype, grad=grad)
        k, v = (tensor(device, 2, 4, 11, 16, dtype=dtype, grad=grad) for _ in range(2))
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=MASKS[mask](device, dtype))
        return [out, *(gradients(out, [q, k, v]) if grad else [])]

    exact(program)


@pytest.mark.parametrize("options", [
    {"is_causal": True},
    {"scale": 0.3},
    {"dropout_p": 0.25},
    {"enable_gqa": True},
], ids=lambda options: next(iter(options)))
def test_attention_options(options):
    def program(device):
        heads = 2 if "enable_gqa" in options else 4
        q = tensor(device, 2, 4, 8, 16, grad=True)
        k, v = (tensor(device, 2, heads, 8, 16, grad=True) for _ in range(2))
        torch.manual_seed(1)  # the inputs were drawn on the host
        out = F.scaled_dot_product_attention(q, k, v, **options)
        return [out, *gradients(out, [q, k, v])]

    exact(program)


@pytest.mark.parametrize("backend", [SDPBackend.MATH, SDPBackend.FLASH_ATTENTION])
def test_attention_heeds_the_switches(backend):
    def program(device):
        q, k, v = (tensor(device, 2, 4, 8, 16) for _ in range(3))
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v), torch._fused_sdp_choice(q, k, v)

    exact(program)


def test_attention_in_transforms():
    def program(device):
        q, k, v = (tensor(device, 3, 2, 4, 8, 16) for _ in range(3))
        mapped = torch.func.vmap(F.scaled_dot_product_attention)(q, k, v)
        slope = torch.func.grad(lambda x: F.scaled_dot_product_attention(x, k[0], v[0]).sum())(q[0])
        with torch.inference_mode():
            return mapped, slope, F.scaled_dot_product_attention(q[0], k[0], v[0])

    exact(program)


def test_attention_refuses_as_the_cpu_does():
    def program(device):
        q, k, v = (tensor(device, 2, 4, 8, 16) for _ in range(3))
        F.scaled_dot_product_attention(q, k.double(), v)

    same_error(program)


# Dropout

DROPOUTS = {
    "dropout": lambda x: F.dropout(x, 0.3),
    "dropout of all": lambda x: F.dropout(x, 1.0),
    "dropout of none": lambda x: F.dropout(x, 0.0),
    "dropout in evaluation": lambda x: F.dropout(x, 0.3, training=False),
    "dropout in place": lambda x: F.dropout(x * 1, 0.3, inplace=True),
    "alpha_dropout": lambda x: F.alpha_dropout(x, 0.3, training=True),
    "feature_dropout": lambda x: F.dropout1d(x, 0.3),
    "feature_alpha_dropout": lambda x: F.feature_alpha_dropout(x, 0.3, training=True),
    "native_dropout": lambda x: torch.native_dropout(x, 0.3, True),
}


@pytest.mark.parametrize("name", DROPOUTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_dropout(name, dtype):
    def program(device):
        x = tensor(device, 5, 7, 9, dtype=dtype, grad=True)
        torch.manual_seed(1)
        out = DROPOUTS[name](x)
        return [*pytree.tree_leaves(out), *gradients(out, [x]), torch.rand(3, device=device)]

    exact(program)


def test_dropout_is_recorded():
    x = torch.ones(8, device=DEVICE)
    F.dropout(x, 0.3)
    before = torch.neuron.metrics()["ops_recorded"]
    F.dropout(x, 0.3)
    assert torch.neuron.metrics()["ops_recorded"] - before == 3  # bernoulli_, div_, mul; no native_dropout


@pytest.mark.parametrize("randomness", ["same", "different"])
def test_dropout_in_vmap(randomness):
    def program(device):
        x = tensor(device, 4, 6)
        torch.manual_seed(1)
        return torch.func.vmap(lambda one: F.dropout(one, 0.4), randomness=randomness)(x)

    exact(program)


# Recurrent networks

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


# Checks of values

def test_quantile():
    exact(lambda device: [getattr(torch, name)(tensor(device, 4, 9), torch.tensor([0.1, 0.7], device=device), dim=1)
                          for name in ("quantile", "nanquantile")])
    same_error(lambda device: torch.quantile(tensor(device, 9), torch.tensor([0.5, 1.5], device=device)))
    same_error(lambda device: torch.quantile(tensor(device, 9), torch.tensor([[0.5]], device=device)))


def test_one_hot():
    exact(lambda device: [F.one_hot(torch.tensor([0, 2, 1], device=device), n) for n in (-1, 3, 5)])
    for values, classes in (([0, -1], 3), ([0, -1], -1), ([0, 3], 3), ([0, 1], 0), ([], -1)):
        same_error(lambda device: F.one_hot(torch.tensor(values, dtype=torch.long, device=device), classes))


def test_a_wrong_class_is_reported_although_nobody_waits():
    for _ in range(3):
        F.one_hot(torch.tensor([0, 2], device=DEVICE), 3)
    with pytest.raises(RuntimeError, match="Class values must be smaller than num_classes"):
        F.one_hot(torch.tensor([0, 7], device=DEVICE), 3)  # in verify mode it raises here
        torch.neuron.synchronize()


def test_histc_counts_integers():
    exact(lambda device: torch.histc(tensor(device, 50), 7, -1, 1))
    values = torch.randint(0, 8, (100,))
    expected = torch.histc(values.float(), 8, 0, 7)
    for dtype in (torch.int64, torch.int32, torch.int16, torch.uint8):
        for _ in range(2):
            counts = torch.histc(values.to(dtype).to(DEVICE), bins=8, min=0, max=7)
            assert counts.dtype == dtype
            assert counts.tolist() == expected.tolist()


# Choices that PyTorch makes in Python

@pytest.mark.parametrize("mode, shape", [("bilinear", (1, 2, 5, 6)), ("trilinear", (1, 2, 3, 4, 5))])
def test_deterministic_interpolation(mode, shape):
    def program(device):
        torch.use_deterministic_algorithms(True)
        try:
            x = tensor(device, *shape, grad=True)
            out = F.interpolate(x, scale_factor=1.7, mode=mode)
            return [out, *gradients(out, [x])]
        finally:
            torch.use_deterministic_algorithms(False)

    exact(program)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_chunked_linear_cross_entropy(dtype, reduction):
    def program(device):
        x, weight = tensor(device, 24, 8, dtype=dtype, grad=True), tensor(device, 40, 8, dtype=dtype, grad=True)
        target = torch.randint(0, 40, (24,)).to(device)
        options = nn.LinearCrossEntropyOptions()
        out = F.linear_cross_entropy(x, weight, target, reduction=reduction, options=options)
        return [out, *gradients(out, [x, weight])]

    exact(program)


# Transformers in inference

@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_encoder_fast_path(norm_first, masked):
    def program(device):
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, norm_first=norm_first)
        model = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(16)).eval().to(device)
        x = tensor(device, 3, 5, 16)
        padding = torch.zeros(3, 5, dtype=torch.bool)
        padding[0, 3:] = padding[2, 4:] = True
        with torch.no_grad():
            return model(x, src_key_padding_mask=padding.to(device) if masked else None)

    exact(program)


def test_multihead_attention_fast_path():
    def program(device):
        model = nn.MultiheadAttention(16, 4, batch_first=True).eval().to(device)
        x = tensor(device, 3, 5, 16)
        with torch.no_grad():
            return model(x, x, x), model(x, x, x, need_weights=False)

    exact(program)


# Autocast

def test_autocast_has_the_policies_of_the_cpu():
    def registered(key):
        has = torch._C._dispatch_has_kernel_for_dispatch_key
        return {name for name in torch._C._dispatch_get_all_op_names() if has(name, key)}

    assert registered("AutocastPrivateUse1") == registered("AutocastCPU")


AUTOCAST = {
    "mm": lambda x: x @ x,
    "linear": lambda x: F.linear(x, x),
    "conv2d": lambda x: F.conv2d(x.view(1, 1, 8, 8), x[:3, :3].reshape(1, 1, 3, 3)),
    "attention": lambda x: F.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None]),
    "prelu": lambda x: F.prelu(x, x[0, :1]),
    "einsum": lambda x: torch.einsum("ij,kj->ik", x, x),
    "exp": torch.exp,
    "softmax": lambda x: (x @ x).softmax(-1),
    "layer_norm": lambda x: F.layer_norm(x @ x, (8,)),
    "prod": lambda x: (x @ x).prod(),
    "mse_loss": lambda x: F.mse_loss(x @ x, x),
    "nll_loss": lambda x: F.nll_loss((x @ x).log_softmax(-1), torch.arange(8, device=x.device)),
    "cross_entropy": lambda x: F.cross_entropy(x @ x, torch.arange(8, device=x.device)),
    "cdist": lambda x: torch.cdist(x @ x, x),
    "fft": lambda x: torch.fft.fft(x @ x).real,
    "inverse": lambda x: torch.linalg.inv(x @ x + 20 * torch.eye(8, device=x.device)),
    "quantile": lambda x: torch.quantile(x @ x, 0.3),
    "cat": lambda x: torch.cat([x @ x, x]),
    "stack": lambda x: torch.stack([x @ x, x]),
    "index_copy": lambda x: (x @ x).index_copy(0, torch.tensor([1], device=x.device), x[:1]),
}


@pytest.mark.parametrize("name", AUTOCAST)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_autocast(name, dtype):
    def program(device):
        x = tensor(device, 8, 8, grad=True)
        with torch.autocast(device, dtype):
            out = AUTOCAST[name](x)
        return [out, *gradients(out, [x])]

    exact(program)


@pytest.mark.parametrize("kind", NETWORKS)
def test_autocast_of_networks(kind):
    def program(device):
        with torch.autocast(device, torch.bfloat16):
            return run_network(device, kind, num_layers=2)

    exact(program)


def test_training_with_scaled_gradients():
    def program(device):
        model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)).to(device)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        scaler = torch.amp.GradScaler(device, init_scale=2.0**16, growth_interval=2)
        scales = []
        for step in range(6):
            optimizer.zero_grad()
            with torch.autocast(device, torch.float16):
                loss = model(tensor(device, 4, 8) * (1e4 if step == 1 else 1)).pow(2).mean()
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
            scales.append(scaler.get_scale())
        return scales, [p.detach() for p in model.parameters()]

    exact(program)


# Refusals

@pytest.mark.parametrize("program", [
    lambda: torch.sparse_csr_tensor([0, 1, 2], [0, 1], [1.0, 2.0], (2, 2), device=DEVICE),
    lambda: torch.sparse_csc_tensor([0, 1, 2], [0, 1], [1.0, 2.0], (2, 2), device=DEVICE),
    lambda: torch.sparse_bsr_tensor([0, 1, 2], [0, 1], [[[1.0]], [[2.0]]], (2, 2), device=DEVICE),
    lambda: torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3,), device=DEVICE),
    lambda: torch.zeros(3, 3, layout=torch.sparse_csr, device=DEVICE),
    lambda: torch.zeros(3, 3, layout=torch.sparse_coo, device=DEVICE),
    lambda: torch.eye(3, device=DEVICE).to_sparse(),
    lambda: torch.eye(3, device=DEVICE).to_sparse_csr(),
    lambda: torch.eye(3, device=DEVICE).to_mkldnn(),
    lambda: torch.quantize_per_tensor(torch.eye(3, device=DEVICE), 0.1, 0, torch.quint8),
    lambda: torch.nested.nested_tensor([torch.ones(2, device=DEVICE), torch.ones(3, device=DEVICE)]),
    lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], device=DEVICE),
    lambda: torch.nested.as_nested_tensor([torch.ones(2, device=DEVICE), torch.ones(3, device=DEVICE)]),
])
def test_refusals(program):
    with pytest.raises(NotImplementedError, match=DEVICE):
        program()


def test_jagged_tensors_work():
    nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=torch.jagged, device=DEVICE)
    assert_close((nested * 2).values().cpu(), torch.full((6, 3), 2.0))
