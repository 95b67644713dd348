"""Any method of a tensor and any function of torch.special, linalg and fft, with arguments at random.

Most calls are wrong, and must be wrong in the same way; what is left reaches ops that no other family names.
"""
import re

import torch

from fuzz.generate import py, tup, var

# What shows addresses or devices, needs memory that nobody wrote, calls back into Python, makes tensors of other kinds,
# or hands out the same tensor only on the CPU.
WITHOUT = re.compile(r"""_.*|is_.*|.*storage.*|.*sparse.*|.*quant.*|q_.*|int_repr|.*indices|values|coalesce|smm|hspmm|
    sspaddmm|data_ptr|numpy|share_memory_|pin_memory|cuda|cpu|xpu|ipu|hpu|mtia|neuron|get_device|to_mkldnn|backward|
    register_.*|retain_grad|apply_|map_|map2_|resize.*|set_|new|new_empty.*|record_stream|module_load|reinforce|type|
    rename.*|refine_names|align_.*|to_padded_tensor|dim_order|ormqr|unsafe_.*|empty.*""", re.VERBOSE)


def callables(owner, prefix):
    names = sorted(name for name in dir(owner) if not WITHOUT.fullmatch(name))
    return [prefix + name for name in names if callable(getattr(owner, name)) and not name[0].isupper()]


NAMES = (callables(torch.Tensor, ".") + callables(torch.special, "torch.special.")
         + callables(torch.linalg, "torch.linalg.") + callables(torch.fft, "torch.fft."))


def anything(w, x):
    """An argument of any kind."""
    kind = w.random.random()
    if kind < 0.5:
        return var(w.pick_like(x))
    if kind < 0.75:
        return w.integer()
    if kind < 0.9:
        return w.scalar()
    index = py("torch.tensor([0, 1], device=device)")
    return w.choice([None, True, tup(0, 1), tup(-1), [2, 3], py("torch.float64"), "mean", index])


def wild(w):
    fn = w.choice(NAMES)
    writes = fn.endswith("_")
    x = w.pick(lambda tensor: tensor.numel() < 2000 and not (writes and tensor.numel() == 0), writable=writes)
    if x is None or w.frozen is not None:
        return
    result = w.call(fn, var(x), *[anything(w, x) for _ in range(w.choice([0, 0, 1, 1, 1, 2, 2, 3]))], sync=True)
    if (writes and w.failed()) or not small(getattr(w.v, result, None)):
        w.take_back()
    elif isinstance(getattr(w.v, result, None), tuple):
        w.call("[]", var(result), w.choice([0, -1]))


def small(value):
    return not isinstance(value, torch.Tensor) or value.numel() < 50000
