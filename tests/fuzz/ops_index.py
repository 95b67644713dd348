"""Reads and writes by index, by mask and by slice; values that only a run can know."""
import torch

from fuzz import ops_make, ops_view
from fuzz.generate import py, storage, tup, var
from fuzz.ops_compute import write


def bound(w, size, wild=0.1):
    """Index values as a list; sometimes one is out of range."""
    values = [w.random.randint(-size, size - 1) if size else 0 for _ in range(w.random.randint(0, 4))]
    if values and w.chance(wild):
        values[-1] = size + w.choice([0, 7])
    return values


def indices(w, values, plain=False):
    """An index tensor on the device. Ops other than indexing do not take negative values: `plain` makes them rare."""
    if plain and not w.chance(0.1):
        values = [abs(one) for one in values]
    dtype = "" if w.chance(0.9) else f".to(torch.{w.choice(['int32', 'uint8', 'int16', 'float32'])})"
    return py(f"torch.tensor({values}, dtype=torch.int64, device=device){dtype}")


def mask(w, x):
    """A boolean mask for a tensor."""
    ready_made = w.pick(lambda tensor: tensor.dtype == torch.bool and tensor.shape == w.tensor(x).shape)
    return var(ready_made) if ready_made and w.chance(0.6) else py(f"(v.{x} > 0)")


READS = """index index mask index_select gather take nonzero masked_select embedding repeat_interleave searchsorted
    bincount one_hot unique take_along_dim""".split()


def read(w):
    x = w.pick()
    tensor, d = w.tensor(x), w.dim(w.tensor(x))
    size = tensor.shape[d] if tensor.dim() else 1
    i = indices(w, bound(w, size), plain=True)
    kind = w.choice(READS)
    if kind == "index":
        many = [indices(w, bound(w, n)) for n in tensor.shape[: w.random.randint(1, 2)]]
        return w.call("[]", var(x), tup(*many, *([py("slice(None)")] if w.chance(0.2) else [])), sync=True)
    if kind == "mask":
        return w.call("[]", var(x), mask(w, x))
    if kind == "index_select":
        return w.call("torch.index_select", var(x), d, i, sync=True)
    if kind in ("gather", "take_along_dim"):
        flat, places = py(f"v.{x}.flatten()"), indices(w, bound(w, tensor.numel()), plain=True)
        return w.call(f"torch.{kind}", flat, *([0, places] if kind == "gather" else [places, 0]), sync=True)
    if kind in ("take", "repeat_interleave", "masked_select"):
        other = {"take": i, "repeat_interleave": w.choice([2, 0, py("torch.tensor([1, 2], device=device)")])}
        return w.call(f"torch.{kind}", var(x), other.get(kind) or mask(w, x), sync=True)
    if kind == "nonzero":
        return w.call("torch.nonzero", var(x))
    if kind == "embedding":
        return w.call("F.embedding", i, var(x), sync=True)
    if kind == "searchsorted":
        return w.call("torch.searchsorted", py("torch.arange(5.0, device=device)"), var(x), right=w.chance(0.5))
    if kind == "unique":
        many = w.call("torch.unique", var(x), return_counts=True, to="t")
        return w.call("[]", var(many), 1)
    return w.call("torch.bincount" if kind == "bincount" else "F.one_hot", i, sync=True)


def value_for(w, x):
    """What is written: a number, a tensor that fits, or a host tensor of one element."""
    kind = w.random.random()
    if kind < 0.4:
        return w.scalar()
    if kind < 0.45:
        return py("torch.tensor(2.0)")
    # From a tensor of one element PyTorch's own indexing fills on the CPU and copies on other devices. That shows in
    # autograd's graph, and where it would copy from what it writes.
    other = w.pick_source(x)
    source = w.tensor(other)
    if source.dim() == 0 and (source.requires_grad or storage(source) == storage(w.tensor(x))):
        return 1
    return var(other)


WRITES = """slice slice slice mask index masked_fill_ index_fill_ index_add_ scatter_ index_put_ put_ masked_scatter_
    scatter_add_ index_copy_ augmented fill_diagonal_""".split()


def write_at(w):
    x = w.pick(writable=True)
    if x is None:
        return None
    tensor, d = w.tensor(x), w.dim(w.tensor(x))
    size = tensor.shape[d] if tensor.dim() else 1
    i = indices(w, bound(w, size, wild=0.02), plain=True)
    kind = w.choice(WRITES)
    if kind == "augmented":
        return w.call(w.choice(["+=", "-=", "*=", "/="]), var(x), value_for(w, x), to="")
    if kind in ("slice", "mask", "index"):
        where = {"slice": ops_view.index(w, tensor), "mask": mask(w, x), "index": indices(w, bound(w, size, 0))}[kind]
        name = w.call("[]=", var(x), where, value_for(w, x), to="")
        if kind == "index" and w.failed():
            w.take_back()
        return name
    flat = py(f"v.{x}.flatten()[:{w.random.randint(0, 4)}]")
    if kind == "masked_fill_":
        return write(w, ".masked_fill_", var(x), mask(w, x), w.scalar())
    if kind == "masked_scatter_":
        return write(w, ".masked_scatter_", var(x), mask(w, x), var(w.pick()), sync=True)
    if kind == "index_fill_":
        return write(w, ".index_fill_", var(x), d, i, w.scalar(), sync=True)
    if kind in ("index_add_", "index_copy_"):
        source = py(f"v.{x}.index_select({d}, {i['py']}).clone()")
        return write(w, f".{kind}", var(x), d, i, source, sync=True)
    if kind in ("scatter_", "scatter_add_"):
        zeros = py(f"torch.zeros_like(v.{x}, dtype=torch.int64)")
        return write(w, f".{kind}", var(x), d, zeros, py(f"v.{x}.clone()"), sync=True)
    if kind == "fill_diagonal_":
        return write(w, ".fill_diagonal_", var(x), w.scalar())
    if kind == "put_":  # of no elements, the device takes two views of one buffer for one tensor
        return write(w, ".put_", var(x), i, flat, sync=True) if tensor.numel() else None
    values = w.choice([flat, py(f"v.{x}.flatten()[0]")])
    return write(w, ".index_put_", var(x), tup(i), values, w.chance(0.5), sync=True)


def overlapping(w):
    """Writes whose operands share memory: refused where it matters, exact where not."""
    x = w.pick(lambda tensor: tensor.numel() > 2, writable=True)
    if x is None:
        return None
    flat = f"v.{x}.view(-1)" if w.tensor(x).is_contiguous() else f"v.{x}[0]"
    low, high = py(f"{flat}[:-1]"), py(f"{flat}[1:]")
    kind = w.choice(["add", "copy", "same", "expanded", "out", "halves"])
    if kind == "add":
        return w.call(".add_", high, low)
    if kind == "same":
        return w.call(w.choice([".add_", ".mul_", ".copy_", ".sub_"]), var(x), var(x))
    if kind == "expanded":
        return w.call(w.choice([".add_", ".fill_", ".mul_"]), py(f"v.{x}[:1].expand(3, *v.{x}.shape[1:])"), 2)
    if kind == "out":
        return w.call("torch.add", low, high, out=w.choice([low, high, py(f"v.{x}")]))
    if kind == "halves":
        half = w.tensor(x).numel() // 2
        return w.call(".add_", py(f"{flat}[:{half}]"), py(f"{flat}[-{half}:]"))
    return None


def replaced(w):
    """Storage games: resize, set, data. What grows is filled at once, as nobody wrote it."""
    x = w.pick(writable=True)
    if x is None or w.frozen is not None:
        return None
    kind = w.choice(["resize", "data", "set", "del", "swap", "zero", "resize_storage"])
    if kind == "resize":
        return w.call(".fill_", py(f"v.{x}.resize_({tuple(w.size())})"), w.choice([0, 1]))
    if kind == "data":
        return w.call("attr=", var(x), "data", py(f"v.{w.pick()}.detach()"), to="")
    if kind == "set":
        return w.call(".set_", var(x), var(w.pick()))
    if kind == "del":
        if len(vars(w.v)) > 4:
            return w.call("del", var(x), to="")
        return None
    if kind == "swap":
        y = ops_make.made(w, list(w.tensor(x).shape), w.tensor(x).dtype)
        return w.call("torch.utils.swap_tensors", var(x), var(y), to="")
    return w.call(".zero_", var(x))
