"""Neural network functions, and autograd: leaves, hooks, backward, double backward."""
from fuzz import ops_make
from fuzz.generate import FLOATS, py, tup, var
from fuzz.generate import torch


def image(w):
    x = w.pick(lambda tensor: tensor.dim() in (3, 4) and tensor.is_floating_point() and tensor.numel())
    return x or ops_make.made(w, [2, 3, 6, 6], torch.float32, "normal")


LAYERS = """conv layer_norm group_norm batch_norm pool interpolate attention instance_norm glu normalize
    rms_norm""".split()
LOSSES = "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss kl_div huber_loss bce".split()


def layer(w):
    x = image(w)
    tensor = w.tensor(x)
    channels, seed = tensor.shape[1], w.random.randrange(999)
    weight = py(f"make('normal', (4, {channels}) + (3,) * (v.{x}.dim() - 2), v.{x}.dtype, {seed}).to(device)")
    ranks = {3: "1d", 4: "2d"}[tensor.dim()]
    kind = w.choice(LAYERS)
    if kind == "conv":
        return w.call(f"F.conv{ranks}", var(x), weight, padding=w.choice([0, 1]), stride=w.choice([1, 2]))
    if kind in ("layer_norm", "rms_norm"):
        return w.call(f"F.{kind}", var(x), tup(*tensor.shape[-w.choice([1, 2]):]))
    if kind == "group_norm":
        return w.call("F.group_norm", var(x), w.choice([1, channels, 2]))
    if kind == "batch_norm":
        return w.call("F.batch_norm", var(x), None, None, training=True)
    if kind == "pool":
        fn = w.choice(["avg_pool", "max_pool", "adaptive_avg_pool", "adaptive_max_pool"])
        return w.call(f"F.{fn}{ranks}", var(x), w.choice([1, 2]))
    if kind == "interpolate":
        mode = w.choice(["nearest"] + (["bilinear", "bicubic"] if ranks == "2d" else ["linear"]))
        return w.call("F.interpolate", var(x), scale_factor=w.choice([2, 0.5]), mode=mode)
    if kind == "attention":
        return w.call("F.scaled_dot_product_attention", var(x), var(x), var(x), is_causal=w.chance(0.5))
    if kind == "normalize":
        return w.call("F.normalize", var(x), dim=w.dim(tensor))
    return w.call(f"F.{kind}", var(x))


def loss(w):
    x = w.pick(lambda tensor: tensor.is_floating_point() and tensor.dim() == 2) or ops_make.made(w, [4, 3], FLOATS[0])
    rows, classes = w.tensor(x).shape
    kind = w.choice(LOSSES)
    reduction = w.choice(["mean", "sum", "none"])
    if kind in ("cross_entropy", "nll_loss"):
        target = py(f"torch.arange({rows}, device=device) % {max(classes, 1) + w.chance(0.1)}")
        return w.call(f"F.{kind}", var(x), target, reduction=reduction, sync=True)
    if kind == "bce":
        target = py(f"(v.{x} > 0).to(v.{x}.dtype)")
        return w.call("F.binary_cross_entropy_with_logits", var(x), target, reduction=reduction)
    return w.call(f"F.{kind}", var(x), var(w.pick_like(x)), reduction=reduction)


def leaf(w):
    x = w.pick(lambda tensor: tensor.is_floating_point() and tensor.is_leaf and not tensor.requires_grad, writable=True)
    return w.call(".requires_grad_", var(x or ops_make.made(w, dtype=FLOATS[0])))


def grown(w):
    """A variable that has a history."""
    return w.pick(lambda tensor: tensor.requires_grad and not tensor.is_leaf)


def grad(w):
    if w.in_threads and w.frozen is not None:  # gradients of shared leaves would be summed in no defined order
        return None
    y = grown(w)
    if y is None:
        return grow(w)
    x = w.pick(lambda tensor: tensor.requires_grad and tensor.is_leaf) or y
    kind = w.choice(["backward", "backward", "retain", "grad", "double", "hook", "hook", "zero", "detach_", "look"])
    if kind in ("backward", "retain"):
        keep = {"retain_graph": True} if kind == "retain" else {}
        return w.call(".backward", py(f"v.{y}.sum()"), to="", sync=True, **keep)
    if kind in ("grad", "double"):
        how = {"retain_graph": True, "allow_unused": True} if kind == "grad" else {"create_graph": True}
        many = w.call("torch.autograd.grad", py(f"v.{y}.square().sum()"), [var(x)], to="t", sync=True, **how)
        return w.call("[]", var(many), 0)
    if kind == "hook":
        fn = w.choice([".register_hook", ".register_hook", ".retain_grad", ".register_post_accumulate_grad_hook"])
        call = [] if fn == ".retain_grad" else [py("hook(log, 2.0)")] if fn == ".register_hook" else [py("seen")]
        return w.call(fn, var(w.choice([x, y])), *call, to="")
    if kind == "zero":
        return w.call("attr=", var(x), "grad", None, to="")
    if kind == "detach_":
        return w.call(".detach_", var(y))
    return w.call("getattr", var(x), "grad")


def trained(w):
    """A step of an optimizer."""
    def is_ready(tensor):
        return tensor.is_leaf and tensor.grad is not None

    tensors = [name for name, value in vars(w.v).items() if isinstance(value, torch.Tensor) and w.may_use(name, True)]
    leaves = [name for name in tensors if w.accepts(is_ready, w.tensor(name))]
    if not leaves:
        return grad(w)
    kind = w.choice(["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam"])
    how = {"momentum": 0.9} if kind == "SGD" and w.chance(0.5) else {}
    how |= {"weight_decay": 0.1} if w.chance(0.3) else {}
    how |= {"foreach": w.chance(0.5)} if w.chance(0.4) else {}
    return w.call("optimize", kind, [var(name) for name in dict.fromkeys(leaves[-3:])], lr=0.1, to="t", **how)


def transformed(w):
    """Functions of functions."""
    x = w.pick(lambda tensor: tensor.is_floating_point() and tensor.numel() < 100)  # a Jacobian has the square of it
    if x is None:
        return grow(w)
    fn = w.choice(["torch.vmap(torch.sin)", "torch.vmap(torch.sum)", "torch.func.grad(lambda t: t.square().sum())",
                   "torch.func.jacrev(torch.sin)", "torch.vmap(lambda t: t * 2 + t.sum())"])
    return w.call(fn, var(x))


def grow(w):
    """A function of a leaf."""
    x = w.pick(lambda tensor: tensor.requires_grad) or leaf(w)
    fn = w.choice([".square", ".exp", ".sigmoid", ".cumsum(0).add", ".relu", "F.gelu", ".t", ".sum", ".clone", ".tanh"])
    if "(" in fn:
        return w.call(".add", py(f"v.{x}.sin()"), var(w.pick_like(x)))
    return w.call(fn, var(x))
