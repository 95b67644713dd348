"""Composite operators that choose by device make the CPU's choice: the smallest programs that would differ."""
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.testing import assert_close
from torch.utils import _pytree as pytree

from programs import exact, gradients, same_error, tensor
from surface import DEVICE


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


# Convolution and pooling

def test_convolution_by_its_private_names():
    def program(device):
        x, w = tensor(device, 2, 3, 8, 8, grad=True), tensor(device, 4, 3, 3, 3, grad=True)
        ones, flags = [1, 1], (False, False, True, True)
        private = torch.ops.aten._convolution(x, w, None, ones, ones, ones, False, [0, 0], 1, *flags)
        direct = torch.mkldnn_convolution(x, w, None, ones, ones, ones, 1)
        return private, gradients(private, [x, w]), direct, gradients(direct, [x, w])

    exact(program)


def test_traced_convolution():
    def program(device):
        traced = torch.jit.trace(nn.Conv2d(3, 4, 3), torch.ones(1, 3, 8, 8)).to(device)
        return traced(tensor(device, 1, 3, 8, 8))

    exact(program)


def test_max_pool1d():
    values = [[1.0, float("nan"), -0.0, 0.0, 0.0, -0.0, float("-inf"), 2.0]]

    def program(device):
        x = torch.tensor(values, device=device).requires_grad_()
        out = F.max_pool1d(x, 2, 1, 1)
        return out, gradients(out, [x]), F.max_pool1d(x.detach(), 2, 1, 1), F.max_pool1d(x.detach()[None], 3, 1, 0, 2)

    exact(program)
    same_error(lambda device: F.max_pool1d(torch.arange(8, device=device)[None], 2))
    same_error(lambda device: F.max_pool1d(tensor(device, 1, 8), 9))


def test_products_with_a_tangent_that_is_zero():
    def program(device):
        x, y = tensor(device, 5), tensor(device, 5)
        return [torch.func.jvp(lambda a, op=op: op(a, y), (x,), (y,)) for op in (torch.dot, torch.vdot, torch.matmul)]

    exact(program)


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


def test_jagged_attention():
    def program(device):
        offsets = torch.tensor([0, 3, 5]).to(device)
        values = [tensor(device, 5, 2, 4, grad=True) for _ in range(3)]
        q, k, v = (torch.nested.nested_tensor_from_jagged(one, offsets).transpose(1, 2) for one in values)
        out = F.scaled_dot_product_attention(q, k, v)
        return (out + q).values(), gradients(out.values(), values)

    exact(program)


def test_jagged_tensors_work():
    nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=torch.jagged, device=DEVICE)
    assert_close((nested * 2).values().cpu(), torch.full((6, 3), 2.0))
