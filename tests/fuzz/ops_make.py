"""New tensors: made on the host and copied, made on the device, drawn, copied to and fro."""
from fuzz.generate import DTYPES, FLOATS, INTEGERS, py, tup, var


def made(w, size=None, dtype=None, kind=None, form=None):
    """A tensor from the host."""
    size = w.size() if size is None else size
    kind = kind or w.choice(["normal", "normal", "normal", "edge", "index"])
    form = form or w.choice(["dense", "dense", "turned", "strided"])
    form = "dense" if form == "strided" and len(size) < 2 else form
    dtype = w.choice(DTYPES) if dtype is None else dtype
    seed = w.random.randrange(10**6)
    host = f"make({kind!r}, {tuple(size)}, {dtype}, {seed}, {form!r})"
    pinned = {"non_blocking": True} if w.chance(0.15) else {}
    return w.call(".to", py(host + (".pin_memory()" if pinned else "")), py("device"), copy=True, **pinned)


def host(w):
    size, dtype = w.size(), w.choice(DTYPES)
    return w.call("make", "normal", py(tuple(size)), py(dtype), w.random.randrange(10**6), to="h")


def factory(w):
    size, dtype = tup(*w.size()), w.choice(DTYPES)
    keywords = {"device": py("device")}
    if w.chance(0.6):
        keywords["dtype"] = py(dtype)
    kind = w.choice(["zeros", "ones", "full", "arange", "linspace", "eye", "tensor", "scalar_tensor", "empty"])
    if kind in ("zeros", "ones"):
        return w.call(f"torch.{kind}", size, **keywords)
    if kind == "full":
        return w.call("torch.full", size, w.scalar(), **keywords)
    if kind == "arange":
        return w.call("torch.arange", *w.choice([[w.integer()], [0, 6, 2], [1.0, 3.0, 0.5], [5, 0, -1]]), **keywords)
    if kind == "linspace":
        return w.call("torch.linspace", w.integer(), w.integer(), w.choice([0, 1, 5, 9]), **keywords)
    if kind == "eye":
        return w.call("torch.eye", *[w.random.randint(0, 4) for _ in range(w.choice([1, 2]))], **keywords)
    if kind == "tensor":
        return w.call("torch.tensor", w.choice([[1, 2, 3], [[1.5], [2.5]], True, [], 3.0, [True, False]]), **keywords)
    if kind == "scalar_tensor":
        return w.call("torch.scalar_tensor", w.scalar(), **keywords)
    return w.call(".fill_", py(f"torch.empty({tuple(w.size())}, device=device)"), w.scalar())


def like(w):
    x = w.pick()
    kind = w.choice(["zeros_like", "ones_like", "full_like", "new_zeros", "new_full", "new_ones"])
    keywords = {"dtype": py(w.choice(DTYPES))} if w.chance(0.4) else {}
    if kind.startswith("new"):
        value = [w.scalar()] if kind == "new_full" else []
        return w.call(f".{kind}", var(x), tup(*w.size()), *value, **keywords)
    return w.call(f"torch.{kind}", var(x), *([w.scalar()] if kind == "full_like" else []), **keywords)


def drawn(w):
    """Random numbers: one generator, so never in threads that run at once."""
    size, where = tup(*w.size()), {"device": py("device")}
    kind = w.choice("seed rand randn randint randperm like write dropout bernoulli multinomial".split())
    if kind == "seed":
        return w.call("torch.manual_seed", w.random.randrange(99), to="")
    if kind in ("rand", "randn"):
        return w.call(f"torch.{kind}", size, dtype=py(w.choice(FLOATS)), **where)
    if kind == "randint":
        return w.call("torch.randint", w.integer(), w.choice([1, 6, 300]), size, dtype=py(w.choice(INTEGERS)), **where)
    if kind == "randperm":
        return w.call("torch.randperm", w.choice([0, 1, 5, 40]), **where)
    x = w.pick_float()
    if x is None:
        return made(w)
    if kind == "like":
        return w.call(f"torch.{w.choice(['rand_like', 'randn_like', 'bernoulli'])}", var(x), sync=True)
    if kind == "write":
        how = [(".normal_", 0.5, 2.0), (".uniform_", -1, 2), (".exponential_",), (".bernoulli_", 0.3), (".random_",),
               (".uniform_", 1, 0), (".normal_", 0, -1), (".log_normal_",), (".geometric_", 0.4), (".cauchy_",)]
        fn, *numbers = w.choice(how)
        target = w.pick(writable=True)
        return w.call(fn, var(target), *numbers) if target else None
    if kind == "multinomial":
        return w.call("torch.multinomial", py("torch.ones(2, 5, device=device)"), w.choice([2, 5, 6]), sync=True)
    if kind == "dropout":
        return w.call("F.dropout", var(x), w.choice([0.0, 0.5, 0.9, 1.0]), training=w.chance(0.8))
    return w.call("torch.bernoulli", var(x), w.choice([0.0, 0.4, 1.0]))


def copied(w):
    """Copies between host and device, and of dtypes."""
    x, kind = w.pick(), w.choice(["to host", "to device", "to dtype", "into", "from host", "into host", "clone"])
    if kind == "to host":
        return w.call(".to", var(x), "cpu", copy=True, to="h")
    if kind == "to dtype":
        fn = w.choice(".to .to .type .float .double .long .bool .half .bfloat16".split())
        return w.call(fn, var(x), *([py(w.choice(DTYPES))] if fn in (".to", ".type") else []))
    if kind == "clone":
        shape = {"memory_format": py(f"torch.{w.choice(['contiguous_format', 'preserve_format', 'channels_last'])}")}
        return w.call(w.choice([".clone", ".contiguous"]), var(x), **(shape if w.chance(0.5) else {}))
    target = w.pick(writable=True)
    if kind == "into":
        return w.call(".copy_", var(target), var(w.pick_source(target))) if target else None
    y = w.pick(host=True, writable=True) or host(w)
    if 0 in (w.tensor(x).numel(), w.tensor(y).numel()):
        return None
    if kind == "to device":
        return w.call(".to", var(y), py("device"), copy=True, **({"non_blocking": True} if w.chance(0.3) else {}))
    if kind == "from host":
        return w.call(".copy_", var(target), var(y)) if target and w.tensor(target).numel() else None
    return w.call(".copy_", var(y), var(x), to="h")


def looked(w):
    """Statements that wait for values."""
    x = w.pick(lambda tensor: tensor.numel() == 1) if w.chance(0.6) else w.pick()
    x = var(x or w.pick())
    fn = w.choice(["log.look", ".item", ".tolist", "bool", "float", "int", "torch.equal", "wait", "mark_step"])
    if fn in ("wait", "mark_step"):
        return w.call(fn, to="")
    return w.call(fn, x, *([var(w.pick())] if fn == "torch.equal" else []), to="")
