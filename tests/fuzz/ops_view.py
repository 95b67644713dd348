"""Views: slices, permutations, reshapes, windows, other dtypes of the same bytes."""
import torch

from fuzz.generate import py, tup, var


def index(w, tensor):
    """An index that makes a view, as an argument."""
    parts = []
    for size in tensor.shape[: w.random.randint(0, tensor.dim())]:
        kind = w.choice(["int", "slice", "slice", "slice", "all"])
        if kind == "int":
            parts.append(w.random.randint(-size, size if w.chance(0.05) else size - 1) if size else 0)
        elif kind == "slice":
            ends = [w.choice([None, w.random.randint(-size - 1, size + 1)]) for _ in range(2)]
            parts.append(py(f"slice({ends[0]}, {ends[1]}, {w.choice([None, None, 1, 2])})"))
        else:
            parts.append(py("slice(None)"))
    for extra, probability in (("None", 0.1), ("...", 0.1)):
        if w.chance(probability):
            parts.insert(w.random.randint(0, len(parts)), py(extra))
    return parts[0] if len(parts) == 1 else tup(*parts)


def factors(w, count):
    """A size with that many elements."""
    size = []
    for factor in (2, 3, 5, 7, 17):
        while count > 1 and count % factor == 0:
            count //= factor
            size.append(factor)
    size += [count] if count != 1 else []
    w.random.shuffle(size)
    while len(size) > 1 and w.chance(0.6):
        size.append(size.pop() * size.pop())
    if size and w.chance(0.4):
        size[w.random.randrange(len(size))] = -1
    return size


def sliced(w, x, tensor):
    return w.call("[]", var(x), index(w, tensor))


def moved(w, x, tensor):
    kind = w.choice(["transpose", "permute", "movedim", "swapaxes", "T", "flip"])
    if kind == "permute":
        dims = list(range(tensor.dim()))
        w.random.shuffle(dims)
        return w.call(".permute", var(x), tup(*dims))
    if kind == "T":
        return w.call(w.choice([".t", ".adjoint", ".ravel", ".detach"]), var(x))
    if kind == "flip":
        return w.call("torch.flip", var(x), [w.dim(tensor)])
    return w.call(f".{kind}", var(x), w.dim(tensor), w.dim(tensor))


def shaped(w, x, tensor):
    kind = w.choice(["view", "reshape", "flatten", "unsqueeze", "squeeze", "squeeze_all", "expand", "unflatten"])
    if kind in ("view", "reshape"):
        return w.call(f".{kind}", var(x), tup(*factors(w, tensor.numel())))
    if kind == "flatten":
        return w.call(".flatten", var(x), *([w.dim(tensor), -1] if w.chance(0.5) else []))
    if kind == "squeeze_all":
        return w.call(".squeeze", var(x))
    if kind == "expand":
        size = [w.choice([2, 3]) if n == 1 else w.choice([n, -1]) for n in tensor.shape]
        return w.call(".expand", var(x), tup(*([w.choice([1, 2])] if w.chance(0.3) else []), *size))
    if kind == "unflatten":
        return w.call(".unflatten", var(x), w.dim(tensor), tup(w.choice([1, 2]), -1))
    return w.call(f".{kind}", var(x), w.dim(tensor))


def windowed(w, x, tensor):
    kind = w.choice(["narrow", "select", "diagonal", "unfold", "chunk", "split", "unbind", "as_strided"])
    d = w.dim(tensor)
    size = tensor.shape[d] if tensor.dim() else 1
    if kind == "narrow":
        start = w.random.randint(0, size)
        return w.call(".narrow", var(x), d, start, w.random.randint(0, size - start + w.chance(0.05)))
    if kind == "select":
        return w.call(".select", var(x), d, w.random.randint(-size, max(size - 1, 0)))
    if kind == "diagonal":
        return w.call(".diagonal", var(x), w.random.randint(-2, 2), d, w.dim(tensor))
    if kind == "unfold":
        return w.call(".unfold", var(x), d, w.random.randint(1, 3), w.random.randint(1, 2))
    if kind == "as_strided":
        if w.frozen is not None:  # it may reach what belongs to another thread
            return None
        return w.call(".as_strided", var(x), tup(w.choice([1, 2, 3]), w.choice([1, 2])),
                      tup(w.choice([0, 1, 2]), w.choice([0, 1, 3])), *([w.choice([0, 1, 2])] if w.chance(0.5) else []))
    many = w.call(f".{kind}", var(x), *([d] if kind == "unbind" else [w.choice([1, 2]), d]), to="t")
    return w.call("[]", var(many), w.random.randint(-1, 1))


def reread(w, x, tensor):
    kind = w.choice(["conj", "real", "imag", "view_as_real", "view_as_complex", "dtype", "resolve", "neg"])
    if kind == "dtype":
        dtypes = ["float32", "int32", "int16", "uint8", "int64", "float64", "complex64", "bfloat16"]
        return w.call(".view", var(x), py(f"torch.{w.choice(dtypes)}"))
    if kind in ("real", "imag"):
        return w.call("getattr", var(x), kind)
    if kind == "resolve":
        return w.call(w.choice([".resolve_conj", ".resolve_neg"]), var(x))
    if kind == "neg" and tensor.dtype == torch.bool:
        return None
    if kind == "neg":
        return w.call("torch._neg_view", var(x))
    return w.call(f"torch.{kind}", var(x))


def viewed(w):
    x = w.pick()
    if w.frozen is not None and w.chance(0.5):
        x = w.pick(writable=True) or x
    tensor = w.tensor(x)
    kinds = [sliced, sliced, sliced, moved, shaped, shaped, windowed, reread]
    return w.choice(kinds)(w, x, tensor)
