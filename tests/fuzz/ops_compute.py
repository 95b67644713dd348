"""Pointwise ops, reductions, products: plain, with `out=`, in place."""
from fuzz.generate import DTYPES, py, tup, var

UNARY = """abs neg relu sigmoid tanh exp log sqrt rsqrt reciprocal floor ceil round trunc frac sign sgn sin cos tan atan
    asin acos sinh cosh expm1 log1p log2 log10 exp2 erf erfc lgamma digamma square logical_not bitwise_not isnan
    isinf isfinite signbit angle positive deg2rad nan_to_num logit i0 sinc asinh erfinv""".split()
BINARY = """add sub mul div pow maximum minimum fmax fmin remainder fmod atan2 floor_divide true_divide eq ne lt le gt
    ge logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor copysign hypot nextafter logaddexp xlogy
    heaviside bitwise_left_shift float_power gcd rsub ldexp""".split()
DIVISIONS = {"remainder", "fmod", "floor_divide", "div", "pow", "gcd"}  # by zero, or to a negative power
ACTIVATIONS = """relu gelu silu elu leaky_relu softplus hardtanh hardsigmoid hardswish mish logsigmoid selu celu
    relu6 softsign tanhshrink softshrink hardshrink""".split()
WITHOUT_IN_PLACE = {"isnan", "isinf", "isfinite", "signbit", "angle", "positive", "maximum", "minimum", "fmax", "fmin",
                    "logaddexp", "rsub"}


def with_forms(w, fn, x, *args, **kw):
    """The function, its method, its in-place form, or with `out=`."""
    form = w.choice(["plain", "plain", "method", "write", "write", "out"])
    if form == "method" and fn != "rsub":
        return w.call(f".{fn}", x, *args, **kw)
    if form == "write" and fn not in WITHOUT_IN_PLACE:
        target = w.pick(writable=True)
        sure = target is not None and (w.chance(0.1) or same_kind(w, target, x))
        return write(w, f".{fn}_", var(target) if sure else x, *args, **kw)
    if form == "out" and fn not in ("rsub", "float_power"):
        target = w.pick(writable=True) if w.chance(0.5) else None
        out = var(target) if target else py("torch.empty(0, device=device)")
        return write(w, f"torch.{fn}", x, *args, out=out, **kw)
    return w.call(f"torch.{fn}", x, *args, **kw)


def same_kind(w, target, x):
    one, other = w.tensor(target), w.tensor(x["v"])
    return one.shape == other.shape and one.dtype == other.dtype


def write(w, fn, target, *args, **kw):
    """A write in place. One that fails halfway has no defined result, so it is not kept."""
    own = [one["v"] for one in (kw.get("out"), target) if isinstance(one, dict) and "v" in one]
    if "v" not in kw.get("out", target):
        return w.call(fn, target, *args, **kw)
    if not own or ("out" not in kw and not w.may_use(own[0], writable=True)):
        return None
    before = w.tensor(own[0]).shape
    name = w.call(fn, target, *args, **kw)
    if w.failed() and (kw.get("sync") or w.tensor(own[0]).shape != before):
        w.take_back()
    return name


def operand(w, x):
    """The second operand: a tensor that broadcasts, or a number."""
    return w.scalar() if w.chance(0.35) else var(w.pick_like(x))


def unary(w):
    x = w.pick_float() if w.chance(0.6) else w.pick()
    with_forms(w, w.choice(UNARY), var(x or w.pick()))


def binary(w):
    x, fn = w.pick(), w.choice(BINARY if w.chance(0.6) else BINARY[:8])
    other = operand(w, x)
    extra = {"alpha": w.scalar()} if fn in ("add", "sub") and w.chance(0.3) else {}
    if fn == "div" and w.chance(0.4):
        extra = {"rounding_mode": w.choice(["floor", "trunc"])}
    if fn in DIVISIONS:
        return with_forms(w, fn, var(x), other, sync=True, **extra)
    return with_forms(w, fn, var(x), other, **extra)


def ternary(w):
    x = w.pick()
    y, z = var(w.pick_like(x)), var(w.pick_like(x))
    kind = w.choice(["where", "addcmul", "addcdiv", "lerp", "clamp", "clamp_min", "masked_fill"])
    if kind == "where":
        mask = w.pick(lambda tensor: tensor.dtype.is_floating_point is False and str(tensor.dtype) == "torch.bool")
        return w.call("torch.where", var(mask or x), y, w.scalar() if w.chance(0.3) else z)
    if kind in ("addcmul", "addcdiv"):
        return with_forms(w, kind, var(x), y, z, value=w.scalar())
    if kind == "lerp":
        return with_forms(w, "lerp", var(x), y, w.scalar() if w.chance(0.5) else z)
    if kind == "clamp":
        return with_forms(w, "clamp", var(x), *[w.scalar() if w.chance(0.8) else None for _ in range(2)])
    if kind == "clamp_min":
        return with_forms(w, "clamp_min", var(x), w.scalar())
    return w.call(".masked_fill", var(x), py(f"v.{x} == v.{x}"), w.scalar())


def activation(w):
    w.call(f"F.{w.choice(ACTIVATIONS)}", var(w.pick_float() or w.pick()))


REDUCTIONS = """sum mean prod amax amin max min argmax argmin var std logsumexp any all cumsum cumprod cummax median
    mode sort argsort topk kthvalue nansum aminmax softmax log_softmax norm count_nonzero unique diff logcumsumexp
    var_mean nanmean""".split()
NEED_DIM = {"logsumexp", "cumsum", "cumprod", "cummax", "softmax", "log_softmax", "logcumsumexp"}
NO_KEEPDIM = NEED_DIM | {"sort", "argsort", "topk", "kthvalue", "count_nonzero", "unique", "diff", "aminmax"}


def reduction(w):
    x, fn = w.pick_float() if w.chance(0.7) else w.pick(), w.choice(REDUCTIONS)
    x = x or w.pick()
    tensor = w.tensor(x)
    args, kw = [], {}
    if fn in ("topk", "kthvalue"):
        args = [w.random.randint(0, 3), w.dim(tensor)]
    elif fn in ("norm", "nanmean") or fn in NEED_DIM:
        args = [w.choice([1, 2, 0, py("float('inf')")])] if fn == "norm" else [w.dim(tensor)] if fn in NEED_DIM else []
    elif fn not in ("unique", "aminmax") and w.chance(0.7):
        kw = {"dim": w.dim(tensor)}
        if fn not in NO_KEEPDIM and w.chance(0.5):
            kw["keepdim"] = True
    if fn in ("sum", "prod", "cumsum", "softmax", "nansum") and w.chance(0.3):
        kw["dtype"] = py(w.choice(DTYPES))
    result = w.call(f"torch.{fn}", var(x), *args, **kw)
    if isinstance(getattr(w.v, result, None), tuple):
        w.call("[]", var(result), w.choice([0, 1, -1]))


PRODUCTS = "mm mm matmul addmm linear outer bmm einsum turned baddbmm dot cdist".split()


def product(w):
    def is_matrix(tensor):
        return tensor.dim() == 2 and tensor.numel() < 2000 and not tensor.dtype.is_complex

    a = w.pick(is_matrix)
    if a is None:
        return None
    inner = w.tensor(a).shape[1]
    b = w.pick(lambda tensor: is_matrix(tensor) and tensor.shape[0] == inner) or w.pick(is_matrix)
    fn = w.choice(PRODUCTS)
    if fn == "turned":
        return w.call("torch.mm", var(a), py(f"v.{a}.t()"))
    if fn == "addmm":
        return w.call("torch.addmm", var(w.pick()), var(a), var(b), beta=w.scalar(), alpha=w.scalar())
    if fn == "linear":
        return w.call("F.linear", var(a), py(f"v.{b}.t()"), *([var(w.pick())] if w.chance(0.3) else []))
    if fn in ("outer", "dot"):
        flat = [py(f"v.{one}.flatten()[:40]") for one in (a, w.choice([a, b]))]
        return w.call(f"torch.{fn}", *flat)
    if fn == "bmm":
        return w.call("torch.bmm", py(f"v.{a}[None]"), py(f"v.{b}[None]"))
    if fn == "baddbmm":
        batches = [py(f"v.{a}[None]"), py(f"v.{b}[None]")]
        return w.call("torch.baddbmm", var(w.pick()), *batches, beta=w.choice([0, 1, 0.5]))
    if fn == "einsum":
        return w.call("torch.einsum", w.choice(["ij,jk->ik", "ij,jk->ki", "ij,jk->", "ij,ij->j"]), var(a), var(b))
    if fn == "cdist":
        return w.call("torch.cdist", var(a), var(a))
    if w.chance(0.3):
        return w.call(f"torch.{fn}", var(a), var(b), out=py("torch.empty(0, device=device)"))
    return w.call(f"torch.{fn}", var(a), var(b))


def joined(w):
    x = w.pick()
    fn = w.choice("cat stack tile repeat roll tril triu pad cartesian_prod meshgrid rot90".split())
    if fn in ("cat", "stack"):
        count, size = w.random.randint(0, 2), w.tensor(x).shape
        parts = [var(x)] + [var(w.pick(lambda tensor: tensor.shape == size)) for _ in range(count)]
        return w.call(f"torch.{fn}", parts, w.dim(w.tensor(x)))
    if fn in ("tile", "repeat"):
        return w.call(f".{fn}", var(x), tup(*[w.choice([1, 2]) for _ in range(w.tensor(x).dim() + w.chance(0.2))]))
    if fn == "roll":
        return w.call("torch.roll", var(x), w.integer(), *([w.dim(w.tensor(x))] if w.chance(0.7) else []))
    if fn in ("tril", "triu"):
        return w.call(f"torch.{fn}", var(x), w.integer())
    if fn == "pad":
        mode = w.choice(["constant", "constant", "reflect", "replicate", "circular"])
        return w.call("F.pad", var(x), tup(w.random.randint(-1, 2), w.random.randint(-1, 2)), mode)
    if fn == "rot90":
        return w.call("torch.rot90", var(x), w.integer())
    flat = py(f"v.{x}.flatten()[:4]")
    if fn == "cartesian_prod":
        return w.call("torch.cartesian_prod", flat, flat)
    many = w.call("torch.meshgrid", flat, flat, indexing="ij", to="t")
    return w.call("[]", var(many), 0)
