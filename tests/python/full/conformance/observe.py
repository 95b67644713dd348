"""Calls a function with arguments moved to a device, and tells all that can be seen of the result."""
import collections

import torch
from torch.utils import _pytree as pytree

Outcome = collections.namedtuple("Outcome", "error leaves tree aliases inputs drew")
Seen = collections.namedtuple("Seen", "dtype shape stride layout values")


class Skip(Exception):
    """A sample that cannot be compared; its text is the reason."""


class Mover:
    """Copies nested values to a device; strides, offsets and shared storages stay as they are."""

    def __init__(self, device):
        self.device = device
        self.bases = {}

    def __call__(self, values):
        return pytree.tree_map(self.leaf, values)

    def leaf(self, value):
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, torch.device) or (isinstance(value, str) and value == "cpu"):
            return torch.device(self.device)
        return value

    def tensor(self, t):
        if t.layout != torch.strided or t.is_quantized or t.is_nested:
            raise Skip("input is not a strided tensor")
        if t.device.type != "cpu":
            raise Skip("input lives on a device of its own")
        storage = t.untyped_storage()
        key = storage._cdata, t.dtype
        if key not in self.bases:
            flat = torch.as_strided(t.detach(), (storage.nbytes() // t.element_size(),), (1,), 0)
            self.bases[key] = flat.clone().to(self.device), t
        moved = torch.as_strided(self.bases[key][0], t.size(), t.stride(), t.storage_offset())
        return moved.requires_grad_(t.requires_grad)


def tensors_in(values):
    return [leaf for leaf in pytree.tree_leaves(values) if isinstance(leaf, torch.Tensor)]


def storage_of(tensor):
    return tensor.untyped_storage()._cdata if tensor.layout == torch.strided else None


def aliases_of(leaves, inputs):
    """For each tensor of a result: which inputs and earlier results share its storage, and which are that tensor."""
    known = [(storage_of(t), t) for t in inputs]
    aliases = []
    for leaf in leaves:
        if isinstance(leaf, torch.Tensor):
            own = storage_of(leaf)
            shared = [i for i, (storage, _) in enumerate(known) if storage is not None and storage == own]
            same = [i for i, (_, t) in enumerate(known) if t is leaf]
            aliases.append((shared, same))
            known.append((own, leaf))
    return aliases


def on_cpu(leaf):
    """A tensor as seen: its metadata, and its values on CPU."""
    if not isinstance(leaf, torch.Tensor):
        return leaf
    stride = leaf.stride() if leaf.layout == torch.strided else None
    values = leaf.detach().cpu()
    if values.layout != torch.strided:
        values = values.to_dense()
    if values.is_quantized:
        values = values.int_repr()
    return Seen(leaf.dtype, tuple(leaf.shape), stride, leaf.layout, values.resolve_conj().resolve_neg().clone())


def observe(call, values, device, seed, keep_arguments=False):
    """Calls call(*values) with values moved to the device; with keep_arguments only the first of them is moved."""
    first, *rest = values
    values = (Mover(device)(first), *Mover("cpu")(rest)) if keep_arguments else Mover(device)(values)
    inputs = tensors_in(values)
    torch.manual_seed(seed)
    state = torch.get_rng_state()
    try:
        leaves, tree = pytree.tree_flatten(call(*values))
        aliases = aliases_of(leaves, inputs)
        leaves = [on_cpu(leaf) for leaf in leaves]  # a late error shows here
        inputs = [on_cpu(t) for t in inputs]
        error = None
    except Skip:
        raise
    except Exception as caught:
        error, leaves, tree, aliases, inputs = caught, [], None, [], []
    return Outcome(error, leaves, tree, aliases, inputs, not torch.equal(state, torch.get_rng_state()))
