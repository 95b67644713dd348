"""torch.autocast("neuron") computes in the types that torch.autocast("cpu") would, and gradients are scaled alike."""
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from programs import NETWORKS, exact, gradients, run_network, tensor
from surface import DEVICE


def test_autocast_has_the_policies_of_the_cpu():
    def registered(key):
        has = torch._C._dispatch_has_kernel_for_dispatch_key
        return {name for name in torch._C._dispatch_get_all_op_names() if has(name, key)}

    inner = {"aten::_transformer_encoder_layer_fwd", "aten::_scaled_mm", "aten::_scaled_mm_v2"}
    assert registered("AutocastPrivateUse1") - inner == registered("AutocastCPU")


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

    try:
        program("cpu")
    except RuntimeError as error:  # oneDNN has no such network for this CPU
        with pytest.raises(RuntimeError) as raised:
            program(DEVICE)
        assert str(raised.value).splitlines()[0] == str(error).splitlines()[0]
        return
    exact(program)


def test_autocast_without_a_type():
    def program(device):
        x = tensor(device, 8, 8)
        with torch.autocast(device):
            outer = x @ x
            with torch.autocast(device, torch.float16), torch.autocast(device):
                return outer, x @ x

    exact(program)


def test_autocast_inside_kernels():
    def program(device):
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
        model = nn.TransformerEncoder(layer, 2).eval().to(device)
        with torch.no_grad(), torch.autocast(device, torch.bfloat16):
            return model(tensor(device, 3, 5, 16))

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
