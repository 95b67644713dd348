"""torch.func, vmap, forward mode, FakeTensor, make_fx, torch.export and torch.compile: as on the CPU."""
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx

from programs import exact, tensor
from surface import DEVICE, bits

func = torch.func


def energy(x):
    return (x.sin() * x.pow(2)).sum() + torch.logsumexp(x, -1).sum()


TRANSFORMS = {
    "grad": lambda x: func.grad(energy)(x),
    "grad_and_value": lambda x: func.grad_and_value(energy)(x),
    "second grad": lambda x: func.grad(lambda v: func.grad(energy)(v).pow(2).sum())(x),
    "vjp": lambda x: func.vjp(lambda v: v.exp() @ v.t(), x)[1](x @ x.t()),
    "jvp": lambda x: func.jvp(lambda v: v.softmax(-1) * v, (x,), (x.cos(),)),
    "jacrev": lambda x: func.jacrev(lambda v: v.tanh().sum(0))(x),
    "jacfwd": lambda x: func.jacfwd(lambda v: v.tanh().sum(0))(x),
    "hessian": lambda x: func.hessian(energy)(x[0]),
    "linearize": lambda x: func.linearize(lambda v: v.sin() * v, x)[1](x),
    "functionalize": lambda x: func.functionalize(lambda v: v.clone().add_(1).mul_(v))(x),
    "vmap": lambda x: func.vmap(lambda v: v.cumsum(0) * v.max())(x),
    "vmap over the second": lambda x: func.vmap(torch.dot, in_dims=(1, 1))(x, x.exp()),
    "vmap in chunks": lambda x: func.vmap(lambda v: F.layer_norm(v, (3,)), chunk_size=2)(x),
    "vmap of grad": lambda x: func.vmap(func.grad(lambda v: v.prod()))(x),
    "vmap with an index": lambda x: func.vmap(lambda v, i: v.index_select(0, i))(x, (x > 0).long()[:, :1]),
    "vmap without a rule": lambda x: func.vmap(lambda v: torch.trapezoid(v.relu()))(x),
    "vmap of random numbers": lambda x: func.vmap(lambda v: v + torch.rand_like(v), randomness="different")(x),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transform(name):
    exact(lambda device: TRANSFORMS[name](tensor(device, 4, 3) if device == "cpu" else seeded(device)))


def seeded(device):
    """The numbers that the CPU drew; then the device's generator is where the CPU's is."""
    x = tensor(device, 4, 3)
    torch.neuron.set_rng_state(torch.get_rng_state())
    return x


def test_functional_call_and_ensembles():
    def program(device):
        models = [nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).to(device) for _ in range(3)]
        x = tensor(device, 5, 3)
        parameters, buffers = func.stack_module_state(models)

        def loss(p, b, v):
            return func.functional_call(models[0], (p, b), (v,)).pow(2).mean()

        slopes = func.vmap(func.grad(loss), in_dims=(0, 0, None))(parameters, buffers, x)
        return list(slopes.values())

    exact(program)


def test_group_norm_of_channels_last_in_a_transform():
    """Once this crashed: the backward met tensors that the transform had wrapped."""
    def program(device):
        x = tensor(device, 2, 4, 3, 3).to(memory_format=torch.channels_last)
        weight, bias = tensor(device, 4), tensor(device, 4)

        def loss(v, w, b):
            return F.group_norm(v, 2, w, b).pow(3).sum()

        slopes = func.grad(loss, argnums=(0, 1, 2))(x, weight, bias)
        return slopes, func.vmap(func.grad(loss), in_dims=(0, None, None))(x[:, None], weight, bias)

    exact(program)


def test_forward_mode():
    def program(device):
        x, t = tensor(device, 3, 4), tensor(device, 3, 4)
        layer = nn.Linear(4, 2).to(device)
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(x, t)
            out = forward_ad.unpack_dual(layer(dual).softmax(-1))
            written = torch.zeros(3, 4, device=device)
            written.copy_(dual).mul_(2)
            return [*out, *forward_ad.unpack_dual(written), *forward_ad.unpack_dual(dual[1:].t())]

    exact(program)


def test_gradients_are_those_of_differences():
    x = torch.rand(3, 4, dtype=torch.float64, device=DEVICE, requires_grad=True)
    w = torch.rand(4, 4, dtype=torch.float64, device=DEVICE, requires_grad=True)

    def program(a, b):
        return (a @ b).tanh().cumsum(0)

    assert torch.autograd.gradcheck(program, (x, w), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(program, (x, w))


def test_fake_tensors_run_nothing():
    with FakeTensorMode() as mode:
        x = torch.ones(1 << 20, 1 << 20, device=DEVICE)  # more memory than there is
        y = nn.Linear(1 << 20, 3, device=DEVICE)(x)
        assert y.shape == (1 << 20, 3) and y.device == torch.device(DEVICE, 0)
    real = torch.ones(2, 3, device=DEVICE)
    with mode:
        fake = mode.from_tensor(real)
        assert (fake @ fake.t()).shape == (2, 2) and fake.is_neuron


@pytest.mark.parametrize("tracing", ["real", "fake", "symbolic"])
def test_make_fx(tracing):
    def program(x):
        return (x.t() @ x).relu() + torch.zeros(1, device=x.device)

    x = torch.randn(4, 3, device=DEVICE)
    graph = make_fx(program, tracing_mode=tracing)(x)
    other = torch.randn(4, 3, device=DEVICE)
    assert torch.equal(bits(graph(other)), bits(program(other)))
    assert any("aten.mm" in str(node.target) for node in graph.graph.nodes)


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.norm = nn.Linear(4, 6), nn.BatchNorm1d(6)

    def forward(self, x, scale=2.0):
        y = self.norm(self.layer(x)).relu() * scale
        return y + torch.arange(6, device=x.device)


def test_export(tmp_path):
    torch.manual_seed(0)
    model = Small().eval().to(DEVICE)
    x = torch.randn(5, 4, device=DEVICE)
    batch = torch.export.Dim("batch", min=2, max=64)
    program = torch.export.export(model, (x,), dynamic_shapes={"x": {0: batch}})
    torch.export.save(program, tmp_path / "program.pt2")
    for one in program, torch.export.load(tmp_path / "program.pt2"):
        for rows in 5, 9:
            x = torch.randn(rows, 4, device=DEVICE)
            assert torch.equal(bits(one.module()(x)), bits(model(x)))


def counting_backend(graph, inputs):
    counting_backend.graphs += 1
    return graph.forward


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("backend", ["neuron", "eager", "aot_eager", counting_backend], ids=str)
def test_compile_trains(backend, dynamic):
    torch._dynamo.reset()
    counting_backend.graphs = 0

    def train(compiled):
        torch.manual_seed(1)
        model = Small().to(DEVICE)
        step = torch.compile(model, backend=backend, dynamic=dynamic) if compiled else model
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for rows in 4, 4, 7:
            loss = step(torch.linspace(-1, 1, rows * 4, device=DEVICE).view(rows, 4)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return [loss, *model.parameters(), *model.buffers()]

    for got, want in zip(train(compiled=True), train(compiled=False)):
        assert torch.equal(bits(got), bits(want))
    assert counting_backend.graphs > 0 or backend is not counting_backend
