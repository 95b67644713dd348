"""What a program needs when it runs: its helpers, and the log of all that can be seen of it.

This file is copied into stand-alone scripts as it is, so it imports nothing of ours.
"""
import contextlib
import random
import re
import types
import warnings

import torch
import torch.nn.functional as F  # noqa: F401  programs use it

DEVICE = "neuron"


# ---- what can be seen ------------------------------------------------------------------------------------------------

def plain(text):
    """A text without what names the device."""
    text = text.split(" (neuron: raised by ")[0].split("(Triggered internally at")[0]
    text = re.sub(r"(Could not run '\S+' with arguments) from the .*", r"\1", text, flags=re.DOTALL)
    text = re.sub(rf"(?:{DEVICE}|PrivateUse1|CPU)(\w+)Type\b", r"torch.\1Tensor", text)
    text = re.sub(rf"{DEVICE}:0|{DEVICE}|privateuseone", "cpu", text)
    return text.replace("PrivateUse1", "CPU").replace("torch::autograd::CopyBackwards", "Fill3").strip()


def describe_error(error):
    return type(error).__name__, plain(str(error))


# Warnings of streams, which the CPU does not have, and of copies to the host, which on the CPU are none.
OF_DEVICES = re.compile("AccumulateGrad node's stream does not match|ComplexHalf support is experimental")


def describe_warning(warning):
    return warning.category.__name__, plain(str(warning.message))


# PyTorch's own indexing fills on the CPU where it copies a tensor of one element on other devices.
NODES = {"FillBackward3": "CopyBackwards"}


def history(tensor):
    """The place in autograd's graph. It refuses to be looked at if a view's base was written in a forbidden way."""
    try:
        return tensor.requires_grad, tensor.is_leaf, NODES.get(name := type(tensor.grad_fn).__name__, name)
    except RuntimeError as error:
        return describe_error(error)


def layout(tensor, racy=False):
    """All that is known of a tensor without its values. A version counter that threads share is not looked at."""
    return {
        "dtype": str(tensor.dtype),
        "size": tuple(tensor.shape),
        "stride": tensor.stride(),
        "offset": tensor.storage_offset(),
        "bytes": tensor.untyped_storage().nbytes(),
        "version": None if racy or tensor.is_inference() else tensor._version,
        "grad": history(tensor),
        "bits": (tensor.is_conj(), tensor.is_neg(), tensor.is_inference()),
    }


def content(tensor):
    """The values on the host, in logical order, with one bit pattern for NaN."""
    tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    if tensor.is_floating_point():
        tensor = torch.where(tensor.isnan(), torch.nan, tensor)
    return tensor.clone(memory_format=torch.contiguous_format)


def seen(value, racy=False):
    """What the log keeps of a result."""
    if isinstance(value, torch.Tensor):
        return layout(value, racy)
    if isinstance(value, (tuple, list)):
        return [seen(one, racy) for one in value]
    known = value is None or isinstance(value, (int, float, complex, str))
    return plain(repr(value)) if known else type(value).__name__


class Log:
    """All that is seen of one run, in order: layouts of results, values where they are looked at, errors."""

    def __init__(self, device, disturb=None, turns=None, racy=False):
        self.device, self.disturb, self.turns, self.racy = device, disturb, turns, racy
        self.entries, self.place = [], ""

    @contextlib.contextmanager
    def __call__(self, place):
        """Around one statement: notes its error, and takes its turn where threads take turns."""
        with self.turns or contextlib.nullcontext():
            self.place = place
            try:
                yield
            except Exception as error:
                self.add("error", describe_error(error))
            if self.disturb:
                self.disturb(self.device)

    def add(self, kind, value):
        self.entries.append((self.place, kind, value))

    def value(self, value):
        self.add("value", seen(value, self.racy))
        return value

    def look(self, tensor):
        """Waits for the values and keeps them."""
        self.add("content", content(tensor))

    def finish(self, v):
        """Keeps all that is left at the end: layouts, values, gradients, and who shares memory with whom."""
        groups = {}
        for name, tensor in sorted(vars(v).items()):
            place = f"end: {name}"
            if not isinstance(tensor, torch.Tensor):
                continue
            with self(place):
                self.add("where", name.startswith("h") or tensor.device.type == self.device)
                self.add("shares", groups.setdefault(tensor.untyped_storage()._cdata, name))
                self.value(tensor)
                self.look(tensor)
            with self(f"{place}.grad"):
                if tensor.is_leaf and tensor.grad is not None:
                    self.value(tensor.grad)
                    self.look(tensor.grad)


# ---- helpers of programs ---------------------------------------------------------------------------------------------

INF, NAN = float("inf"), float("nan")
EDGES = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 1e-40, -1e-310, 3e38, 65504.0, 0.5, 2.0, 127.0]


def make(kind, size, dtype, seed, form="dense"):
    """A host tensor from a seed."""
    generator, here = torch.Generator().manual_seed(seed), torch.device("cpu")
    size = (size[0], 2 * size[1]) + tuple(size[2:]) if form == "strided" else tuple(size)
    wide = torch.complex128 if dtype.is_complex else torch.float64
    data = torch.randn(size, generator=generator, dtype=wide, device=here)
    if kind == "edge":
        places = torch.randint(len(EDGES), size, generator=generator, device=here)
        data = torch.tensor(EDGES, dtype=wide, device=here)[places]
    if kind == "index":
        data = torch.randint(-1, 4, size, generator=generator, device=here).to(wide)
    if not (dtype.is_floating_point or dtype.is_complex):
        data = torch.nan_to_num(data * (1 if kind == "index" else 3), nan=0.0, posinf=100, neginf=-100).clamp(-128, 127)
        data = data.abs() if dtype == torch.uint8 else data
    data = data.to(dtype)
    if form == "turned":
        return data.transpose(0, -1).contiguous().transpose(0, -1) if data.dim() else data
    return data[:, ::2] if form == "strided" else data


def ready(value):
    """Waits for the device, so that errors that only values show belong to this statement."""
    wait()
    return value


def wait():
    torch.neuron.synchronize()


def mark_step():
    torch.neuron.mark_step()


def optimize(kind, tensors, **options):
    """One step of an optimizer over leaves that have gradients; what it keeps is a result."""
    optimizer = getattr(torch.optim, kind)(tensors, **options)
    optimizer.step()
    return [value for state in optimizer.state.values() for _, value in sorted(state.items())]


@contextlib.contextmanager
def default_dtype(dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@contextlib.contextmanager
def deterministic():
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


@contextlib.contextmanager
def flush_denormal():
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


def adaptive(device, enabled):
    return torch.neuron.adaptive_eager(enabled) if device == DEVICE else contextlib.nullcontext()


def hook(log, factor):
    """A gradient hook that is seen in the log."""
    def call(gradient):
        log.value(gradient)
        return gradient * factor
    return call


class Deferred:
    """Statements of which some fail by their values, noticed at once on the CPU and later on the device."""

    def __init__(self, v, device):
        self.v, self.device, self.names, self.errors = v, device, [], []

    def __call__(self, name, call):
        # On the device a call may raise the error of an earlier one, and is then worth a second try.
        for _ in range(1 if self.device == "cpu" else 2):
            with self.noting():
                setattr(self.v, name, call())
                self.names.append(name)
                return

    @contextlib.contextmanager
    def noting(self):
        try:
            yield
        except AttributeError:  # a variable that an earlier failure left out
            pass
        except Exception as error:
            self.errors.append(describe_error(error))

    def settle(self):
        """Hears of all failures; variables that were never computed are gone, as after an error on the CPU."""
        for _ in range(9):
            with self.noting():
                wait()
        for name in self.names:
            with self.noting():
                getattr(self.v, name).cpu()
                continue
            delattr(self.v, name)


@contextlib.contextmanager
def deferred(v, log, place):
    block = Deferred(v, log.device)
    yield block
    block.settle()
    log.place = place
    log.add("deferred", (sorted(set(block.errors)), sorted(set(block.names) & set(vars(v)))))


# ---- running ---------------------------------------------------------------------------------------------------------

class Disturb:
    """Waits and cuts at random places of a run on the device."""

    def __init__(self, rate, seed):
        self.rate, self.random = rate, random.Random(seed)

    def __call__(self, device):
        if device == DEVICE and self.random.random() < self.rate:
            self.random.choice([wait, mark_step, mark_step])()


def run(program, device, disturb=None):
    """Runs a program from the same start each time; gives all that was seen."""
    torch.set_warn_always(True)
    torch.manual_seed(0)
    log, v = Log(device, disturb), types.SimpleNamespace()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program(v, device, log)
        log.disturb = None
        log.finish(v)
        log.place = "end"
        with log("end"):
            wait()
    log.add("warnings", sorted(one for one in map(describe_warning, caught) if not OF_DEVICES.search(one[1])))
    return log.entries
