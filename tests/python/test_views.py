"""Complex, conjugate and negative views; copy on write; deterministic mode and its fills; pointers and versions."""
import pytest
import torch

from programs import exact, gradients, same_error, tensor
from surface import DEVICE, bits

COMPLEX = [torch.complex64, torch.complex128]


def pair(device, dtype=torch.complex64):
    return tensor(device, 4, 3, dtype=dtype), tensor(device, 3, 4, dtype=dtype)


CONJUGATE = {
    "conj": lambda a, b: a.conj(),
    "twice": lambda a, b: a.conj().conj(),
    "product": lambda a, b: a.conj() @ b,
    "adjoint": lambda a, b: a.mH @ b.mH,
    "solve": lambda a, b: torch.linalg.solve((a @ b).mH, a.conj()),
    "copy into": lambda a, b: torch.zeros_like(a).copy_(a.conj()),
    "copy of": lambda a, b: a.conj().clone(),
    "written": lambda a, b: a.clone().conj().add_(1j),
    "imaginary": lambda a, b: a.conj().imag,
    "imaginary in sums": lambda a, b: a.conj().imag + a.real,
    "imaginary written": lambda a, b: a.clone().conj().imag.mul_(3),
    "resolve": lambda a, b: (a.conj().resolve_conj(), a.conj().imag.resolve_neg()),
    "physical": lambda a, b: a.clone().conj_physical_(),
    "as real": lambda a, b: torch.view_as_real(a) * 2,
    "as complex": lambda a, b: torch.view_as_complex(torch.view_as_real(a).abs()),
    "real written": lambda a, b: torch.view_as_real(b.clone()).select(-1, 1).zero_(),
    "dot": lambda a, b: torch.vdot(a.conj()[0], b[:, 0]),
    "einsum": lambda a, b: torch.einsum("ij,jk->ik", a.conj(), b.conj()),
    "indexed": lambda a, b: a.conj()[torch.tensor([2, 0], device=a.device)],
    "cat": lambda a, b: torch.cat([a.conj(), a]),
    "fft": lambda a, b: torch.fft.ifft(a.conj(), dim=0),
    "to real": lambda a, b: a.conj().abs(),
}


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
@pytest.mark.parametrize("name", CONJUGATE)
def test_conjugate_and_negative_views(name, dtype):
    exact(lambda device: CONJUGATE[name](*pair(device, dtype)))


def test_their_flags():
    a, _ = pair(DEVICE)
    view = a.conj()
    assert view.is_conj() and view.data_ptr() == a.data_ptr() and not view.resolve_conj().is_conj()
    assert view.imag.is_neg() and torch.equal(view.cpu(), a.cpu().conj())
    a.fill_(2 + 1j)
    assert view[0, 0].item() == 2 - 1j and view.imag[0, 0].item() == -1


def test_gradients_of_complex_numbers():
    def program(device):
        a, b = (t.requires_grad_() for t in pair(device))
        out = (a.conj() @ b).abs() + torch.view_as_real(b @ a.conj())[0, 0, 0]
        return [out, *gradients(out, [a, b])]

    exact(program)


def test_view_as_real_refuses_a_conjugate_as_the_cpu_does():
    same_error(lambda device: torch.view_as_real(pair(device)[0].conj()))


# Copy on write

def test_a_lazy_clone_is_a_copy():
    def program(device):
        x = torch.arange(6.0, device=device)
        y = torch._lazy_clone(x)
        z = torch._lazy_clone(y[2:])
        x[0] = -1
        z.add_(10)
        w = torch._lazy_clone(y)
        y.mul_(2)
        return x, y, z, w

    exact(program)


def test_writes_through_views_of_a_lazy_clone():
    def program(device):
        x = torch.arange(12.0, device=device).view(3, 4)
        view, clone = x.t(), torch._lazy_clone(x)
        there = clone[1]
        view.add_(1)
        there.zero_()
        return x, view, clone, there, clone.view(-1)[5:]

    exact(program)
    x = torch.ones(3, device=DEVICE)
    assert torch._lazy_clone(x).storage_offset() == 0 and torch._lazy_clone(x)._version == 0


def test_gradients_of_a_lazy_clone():
    def program(device):
        x = tensor(device, 5, grad=True)
        y = torch._lazy_clone(x * 2)
        return gradients(y.sin(), [x])

    exact(program)


# Deterministic mode

@pytest.fixture
def deterministic():
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


FILLED = {
    "empty": lambda dtype, device: torch.empty(3, 5, dtype=dtype, device=device),
    "empty_like": lambda dtype, device: torch.empty_like(torch.zeros(2, 3, dtype=dtype, device=device)),
    "empty_strided": lambda dtype, device: torch.empty_strided((2, 3), (1, 2), dtype=dtype, device=device),
    "empty_permuted": lambda dtype, device: torch.empty_permuted((2, 3), (1, 0), dtype=dtype, device=device),
    "new_empty": lambda dtype, device: torch.zeros(1, dtype=dtype, device=device).new_empty(7),
    "resize": lambda dtype, device: torch.ones(2, dtype=dtype, device=device).resize_(9),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.uint8, torch.bool,
                                   torch.complex64], ids=str)
@pytest.mark.parametrize("name", FILLED)
def test_memory_that_nobody_wrote_is_filled(deterministic, name, dtype):
    exact(lambda device: FILLED[name](dtype, device))


def test_the_fill_can_be_turned_off(deterministic):
    def records():
        before = torch.neuron.metrics()["ops_recorded"]
        torch.empty(100, device=DEVICE)
        return torch.neuron.metrics()["ops_recorded"] - before

    records()
    assert records() > 0
    torch.utils.deterministic.fill_uninitialized_memory = False
    try:
        assert records() == 0
    finally:
        torch.utils.deterministic.fill_uninitialized_memory = True


def test_deterministic_algorithms(deterministic):
    def program(device):
        x, index = torch.zeros(5, device=device), torch.tensor([1, 1, 3], device=device)
        values = tensor(device, 3)
        x.index_put_((index,), values, accumulate=True)
        return x, torch.zeros(5, device=device).scatter_add_(0, index, values), x.index_add(0, index, values)

    exact(program)


def test_what_is_refused_on_the_cpu_is_refused_here(deterministic):
    same_error(lambda device: torch.nn.functional.max_unpool2d(
        torch.ones(1, 1, 2, 2, device=device), torch.zeros(1, 1, 2, 2, dtype=torch.long, device=device), 2))


# Aliases

def test_versions_and_pointers():
    x = torch.zeros(4, 6, device=DEVICE)
    pointer, version = x.data_ptr(), x._version
    view = x[1:, 2:]
    view.add_(1)
    assert x._version == view._version == version + 1
    assert view.data_ptr() == pointer + 4 * (6 + 2) and x.data_ptr() == pointer
    assert x.t().data_ptr() == x.view(24).data_ptr() == x.detach().data_ptr() == pointer
    assert torch.equal(bits(x[1:, 2:]), bits(torch.ones(3, 4))) and x.sum().item() == 12
