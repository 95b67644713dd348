"""The functions of PyTorch that the package replaces: docs/patches.md."""
import numpy
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from surface import DEVICE, bits, python, same_as_cpu

OPTIMIZERS = "SGD Adam AdamW Adadelta Adagrad Adamax ASGD NAdam RAdam RMSprop Rprop Adafactor".split()
FUSED = "SGD Adam AdamW Adagrad".split()


def three_steps(name, **options):
    def program(device):
        parameters = [nn.Parameter(torch.randn(5, 3).to(device)) for _ in range(3)]
        optimizer = getattr(torch.optim, name)(parameters, **options)
        for step in range(3):
            for parameter in parameters:
                parameter.grad = torch.full_like(parameter, 0.1 * (step + 1))
            nn.utils.clip_grad_norm_(parameters, 0.5)
            optimizer.step()
        return parameters, list(optimizer.state.values())

    return program


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_take_the_default_path_of_the_cpu(name):
    same_as_cpu(three_steps(name))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_foreach_when_asked_for(name):
    same_as_cpu(three_steps(name, foreach=True))


@pytest.mark.parametrize("name", FUSED)
def test_fused_when_asked_for(name):
    same_as_cpu(three_steps(name, fused=True))


def test_capturable_is_refused_as_on_the_cpu():
    texts = []
    for device in "cpu", DEVICE:
        with pytest.raises(AssertionError) as error:
            three_steps("Adam", capturable=True)(device)
        texts.append(str(error.value))
    assert texts[0] == texts[1]


def test_weight_averaging():
    def program(device):
        layer = nn.Linear(3, 3).to(device)
        average = torch.optim.swa_utils.AveragedModel(layer)
        for _ in range(3):
            average.update_parameters(layer)
        return list(average.parameters())

    same_as_cpu(program)


@pytest.mark.parametrize("values", [
    [1.5, -2.0], [float("nan"), 1e20], [True, False], [], 3, [[1, 2], [3, 4]], [1 + 2j, 3j], list(range(3000)),
])
def test_printing(values):
    cpu = torch.tensor(values)
    expected = repr(cpu).removesuffix(")")
    text = repr(cpu.to(DEVICE))
    assert text.startswith(expected.split(", dtype")[0].split(", size")[0]) and "device='neuron:0'" in text


def test_printing_is_one_copy():
    x = torch.ones(3, 4, device=DEVICE)
    torch.neuron.synchronize()
    before = torch.neuron.metrics()
    assert "device='neuron:0', requires_grad=True" in repr(x.requires_grad_())
    after = torch.neuron.metrics()
    assert after["ops_recorded"] - before["ops_recorded"] <= 1


def test_numpy_refuses():
    x = torch.ones(2, device=DEVICE)
    for convert in x.numpy, lambda: numpy.asarray(x):
        with pytest.raises(TypeError, match="cpu"):
            convert()


def test_dlpack_refuses():
    x = torch.ones(2, device=DEVICE)
    for export in x.__dlpack__, lambda: torch.utils.dlpack.to_dlpack(x), lambda: torch.from_dlpack(x):
        with pytest.raises(BufferError, match="Tensor.cpu"):
            export()
    with pytest.raises(BufferError, match="require gradient"):
        torch.ones(2, device=DEVICE, requires_grad=True).__dlpack__()
    assert x.__dlpack_device__() == (torch.utils.dlpack.DLDeviceType.kDLExtDev, 0)
    assert numpy.from_dlpack(x, device="cpu").tolist() == [1.0, 1.0]
    assert torch.from_dlpack(torch.ones(2)).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("backend", ["neuron", "eager", "aot_eager"])
def test_compile(backend):
    def program(x):
        return (x.sin() * 2).sum()

    x = torch.randn(4, 5, device=DEVICE, requires_grad=True)
    y = torch.compile(program, backend=backend)(x)
    (gradient,) = torch.autograd.grad(y, x)
    (expected,) = torch.autograd.grad(program(x), x)
    assert torch.equal(bits(y), bits(program(x))) and torch.equal(bits(gradient), bits(expected))


def test_dynamo_finds_the_backend_by_itself():
    code = "import torch, torch._dynamo; print('neuron' in torch._dynamo.list_backends(exclude_tags=()))"
    assert python(code)[:2] == (0, "True")


def test_work_runs_under_the_switches_of_its_call():
    def denormals(device):
        kept = torch.full((8,), 1e-39, device=device) * 0.5
        torch.set_flush_denormal(True)
        flushed = torch.full((8,), 1e-39, device=device) * 0.5
        torch.set_flush_denormal(False)
        return kept, flushed

    def convolution(device):
        x, w = torch.randn(1, 8, 9, 9).to(device), torch.randn(8, 8, 3, 3).to(device)
        outputs = [F.conv2d(x, w)]
        with torch.backends.mkldnn.flags(enabled=False):
            outputs.append(F.conv2d(x, w))
        return outputs

    def default_dtype(device):
        x = torch.arange(3, device=device)
        torch.set_default_dtype(torch.float64)
        y = x.sqrt()
        torch.set_default_dtype(torch.float32)
        return y, x.sqrt()

    for program in denormals, convolution, default_dtype:
        same_as_cpu(program)


def test_a_switch_raises_earlier_errors_but_is_thrown():
    code = """if True:
        import torch
        a, good, bad = torch.arange(3.0, device="neuron"), *torch.tensor([[1], [7]], device="neuron")
        for _ in range(3):
            a[good]
        torch.neuron.synchronize()
        a[bad]
        try:
            torch.set_default_dtype(torch.float64)
        except IndexError as error:
            print("out of bounds" in str(error), torch.get_default_dtype())
    """
    # Verify mode would raise at a[bad].
    assert python(code, TORCH_NEURON_VERIFY="0")[:2] == (0, "True torch.float64")


@pytest.mark.filterwarnings("ignore")
def test_legacy_storages():
    storage = torch.neuron.FloatStorage(4)
    assert storage.is_neuron and storage.dtype == torch.float32 and len(storage) == 4
    assert torch.ones(1, device=DEVICE).storage().cpu().tolist() == [1.0]
    with pytest.raises(RuntimeError, match="Not available"):
        torch.neuron.FloatStorage.from_buffer(b"")
