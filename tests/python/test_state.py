"""State that changes results is the caller's at the time of the call: thread count, grad mode, switches, modes."""
import threading

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from programs import exact, tensor
from surface import DEVICE, bits, python


@pytest.fixture
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_the_number_of_threads(one_thread):
    x = torch.randn(3_000_000, generator=torch.Generator().manual_seed(1))
    y = x.to(DEVICE)
    expected, got = [], []
    for sums, values in (expected, x), (got, y):
        for count in 1, 2, 3, 2, 1:
            torch.set_num_threads(count)
            sums.append(values.sum())
            assert torch.get_num_threads() == count
    assert [s.item() for s in got] == [s.item() for s in expected]
    assert len({s.item() for s in expected}) > 1  # else the test could not fail


def test_work_of_the_device_leaves_the_threads_of_others_alone(one_thread):
    seen = []

    def work():
        torch.set_num_threads(2)
        (torch.ones(500_000, device=DEVICE) * 2).sum().item()
        seen.append(torch.get_num_threads())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [2] and torch.ones(500_000).sum().item() == 500_000


def test_the_cpu_is_known_before_threads_run():
    # What MKL would take for the CPU if nobody had called its vector functions yet: tables of lower accuracy.
    lie = "import os; os.environ['MKL_VML_DEBUG_CPU_TYPE'] = '9'"
    show = "print(torch.linspace(-1, 1, 2304).tanh().view(torch.int32).tolist())"
    plain, settled, fooled = (python(f"import torch; {code}; {show}")
                              for code in ("pass", f"torch.neuron.init(); {lie}", lie))
    assert plain == settled
    if plain == fooled:
        pytest.skip("MKL has one kernel for both here")


def test_modes_see_each_call_once():
    class Counting(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            calls.append(str(func))
            return func(*args, **(kwargs or {}))

    class Naming(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            names.append(getattr(func, "__name__", ""))
            return func(*args, **(kwargs or {}))

    x = torch.ones(3, 3, device=DEVICE)
    for _ in range(3):
        calls, names = [], []
        with Counting(), Naming():
            y = torch.mm(x, x).add_(1)
        y.sum().item()
        assert calls == ["aten.mm.default", "aten.add_.Tensor"] and names == ["mm", "add_"]


def test_grad_mode_and_inference_of_the_call():
    def program(device):
        w = tensor(device, 4, 4, grad=True)
        x = w @ w
        with torch.no_grad():
            y = w @ x
        with torch.inference_mode():
            z = w @ y
        return [x, y, z, x.requires_grad, y.requires_grad, z.is_inference(), torch.autograd.grad(x.sum(), w)]

    exact(program)


def test_matmul_precision_and_deterministic_switches():
    def program(device):
        a, b = tensor(device, 40, 40), tensor(device, 40, 40)
        results = [a @ b]
        torch.set_float32_matmul_precision("medium")
        try:
            results.append(a @ b)
        finally:
            torch.set_float32_matmul_precision("highest")
        return results + [a @ b]

    exact(program)


def test_a_default_device_and_its_context():
    torch.set_default_device(DEVICE)
    try:
        x = torch.arange(3.0)
        with torch.device("cpu"):
            assert not torch.ones(1).is_neuron
        assert x.is_neuron and torch.get_default_device().type == DEVICE
    finally:
        torch.set_default_device(None)
    with torch.device(DEVICE):
        layer = torch.nn.Linear(2, 2)
    assert layer.weight.is_neuron and not torch.ones(1).is_neuron


def test_subclasses_stay_what_they_are():
    class Named(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs or {})

    x = torch.ones(3).as_subclass(Named).to(DEVICE)
    y = (x * 2)[1:]
    assert type(y) is Named and y.is_neuron and torch.equal(bits(y), bits(torch.full((2,), 2.0)))
    assert type(torch.nn.Parameter(x)) is not torch.Tensor
