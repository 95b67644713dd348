"""Kernels that are prepared once for a key and run again over other memory: bits, layouts and errors stay eager's.

A key's first sight runs at the call, its second is invoked, its third prepares: every program laps often enough."""
import threading

import pytest
import torch

from programs import exact
from surface import DEVICE

LAPS = 6


def same(program):
    """As exact(), of everything that the program yields."""
    exact(lambda device: list(program(device)))


def operands(device, dtype=torch.float32):
    x = (torch.arange(48).reshape(6, 8) - 20).to(dtype).to(device) / 7
    return x, (torch.arange(8).to(dtype) + 1).to(device) / 3


BINARY = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "maximum": torch.maximum,
    "minimum": torch.minimum, "atan2": torch.atan2, "fmod": torch.fmod, "remainder": torch.remainder, "pow": torch.pow,
    "eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge,
    "floor": lambda a, b: torch.div(a, b, rounding_mode="floor"),
}
UNARY = ["neg", "exp", "expm1", "log", "log2", "log1p", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "tanh", "sigmoid",
         "erf", "erfinv", "floor", "ceil", "round", "trunc", "sign", "sgn"]
ACTIVATIONS = ["silu", "gelu", "leaky_relu", "elu", "softplus", "hardsigmoid", "mish", "relu"]
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_two_operands(name, dtype):
    op = BINARY[name]

    def program(device):
        x, b = operands(device, dtype)
        for lap in range(LAPS):
            y = x * (lap + 1)
            yield op(y, b), op(b, y), op(y.t(), b[:6]), op(y, y), op(y[lap], b), op(y, torch.tensor(lap + 0.5))
            yield op(y[:, lap:], b[lap:])

    same(program)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_one_operand(dtype):
    def program(device):
        x, _ = operands(device, dtype)
        for lap in range(LAPS):
            y = x + lap
            for name in UNARY:
                yield getattr(torch, name)(y), getattr(torch, name)(y.t()), getattr(torch, name)(y[1:, ::2])
            for name in ACTIVATIONS:
                yield getattr(torch.nn.functional, name)(y)

    same(program)


def test_integers_and_booleans():
    def program(device):
        i = torch.arange(-4, 8, device=device).reshape(3, 4)
        for lap in range(LAPS):
            j = i * lap
            yield j + 1, j - i, j * i, j / 2, j & i, j | i, j ^ i, ~j, j > i, (j > 0) & (i > 0), ~(j > 0)
            yield j + 0.5, j ** 2
            yield torch.clamp(j, -1, lap), torch.clamp(j, min=lap), j.maximum(i), j.to(torch.int16) + i.to(torch.uint8)

    same(program)


def test_scalars_change_from_run_to_run():
    def program(device):
        x, b = operands(device)
        for lap in range(2 * LAPS):
            value = 0.25 * lap - 1
            yield (torch.add(x, b, alpha=value), torch.sub(x, b, alpha=value), x * value, value - x, x ** (lap % 4),
                   torch.clamp(x, value - 1, value), torch.clamp(x, max=value), torch.addcmul(x, x, b, value=value),
                   torch.addcdiv(x, x, b, value=value), torch.lerp(x, x * 2, value), x > value, x == lap,
                   torch.nn.functional.elu(x, alpha=value), torch.nn.functional.leaky_relu(x, value))

    same(program)


def test_in_place_and_overlap():
    def program(device):
        for lap in range(LAPS):
            x, b = operands(device)
            x.add_(b, alpha=lap).mul_(0.5).sub_(x).add_(x.clone()).tanh_()
            x[:, :4].add_(x[:, 4:])
            x.t()[lap % 6].mul_(b[lap])
            torch.relu_(x[2:4])
            x.clamp_(-0.5, 0.1 * lap).sigmoid_().lerp_(x * 2, 0.5)
            x[lap].addcdiv_(b, b + lap, value=0.1)
            yield x, x[1:, lap:].exp_(), torch.nn.functional.silu(x, inplace=True)

    same(program)


def test_gradients():
    def program(device):
        for lap in range(LAPS):
            x, b = operands(device)
            x.requires_grad_()
            y = torch.nn.functional.gelu(torch.tanh(x * b) + torch.sigmoid(x)) * torch.nn.functional.silu(x - lap)
            torch.nn.functional.elu(torch.nn.functional.leaky_relu(y) + torch.relu(x)).sum().backward()
            yield y, x.grad

    same(program)


def test_strides_of_results():
    def program(device):
        x = torch.arange(120.0, device=device).reshape(2, 3, 4, 5).to(memory_format=torch.channels_last)
        for _ in range(LAPS):
            yield x + x, x.permute(3, 1, 0, 2) * 2, x[:, :, ::2] - 1, x.expand(2, 3, 4, 5).tanh(), x[:, :1] + x[:1]

    same(program)


def test_marked_operands():
    def program(device):
        z = torch.view_as_complex(torch.arange(24.0, device=device).reshape(3, 4, 2))
        for _ in range(LAPS):
            yield z.conj() * z, z.conj() + 1, z.imag * 2, z.conj().imag.neg() + z.real, z * (2 + 1j)

    same(program)


def test_large_and_empty_operands():
    def program(device):
        x = torch.linspace(-3, 3, 100_000, device=device)
        for lap in range(LAPS):
            yield torch.sigmoid(x * lap) + x, x[:0] * 2, (x.reshape(100, 1000) + x[:1000]).tanh_()
            yield x[lap:] - x[:-lap or None]

    same(program)


def test_one_key_on_two_streams_and_two_threads():
    x, b = operands(DEVICE)
    want = operands("cpu")

    def laps(found):
        with torch.neuron.stream(torch.neuron.Stream()):
            found.append([torch.sigmoid((x + lap) * b - 1) for lap in range(200)])

    torch.neuron.synchronize()
    found = []
    threads = [threading.Thread(target=laps, args=(found,)) for _ in range(2)]
    laps(found)
    for thread in threads:
        thread.start()
    laps(found)
    for thread in threads:
        thread.join()
    torch.neuron.synchronize()
    assert len(found) == 4
    for results in found:
        for lap, result in enumerate(results):
            assert torch.equal(result.cpu(), torch.sigmoid((want[0] + lap) * want[1] - 1))


def test_memory_of_an_operand_that_is_shared_before_a_write():
    def program(device):
        for lap in range(LAPS):
            x, b = operands(device)
            lazy = torch._lazy_clone(x)
            x.add_(b)
            lazy.mul_(lap)
            yield x, lazy

    same(program)
