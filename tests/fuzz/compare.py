"""Finds the first difference between two runs. Copied into stand-alone scripts, like `runtime`."""
import torch


def same(one, other):
    if isinstance(one, torch.Tensor):
        return (one.dtype, one.shape) == (other.dtype, other.shape) and torch.equal(raw(one), raw(other))
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def raw(tensor):
    """The bytes, so that signed zeros count."""
    return tensor.contiguous().view(-1).view(torch.uint8)


def brief(value):
    text = " ".join(str(value).split())
    return text if len(text) < 600 else text[:600] + " …"


def pointed(want, got):
    """Only what differs of two layouts; of two tensors the first elements that do."""
    if isinstance(want, dict) and isinstance(got, dict):
        keys = [key for key in want if want[key] != got.get(key)]
        return {key: want[key] for key in keys}, {key: got.get(key) for key in keys}
    tensors = isinstance(want, torch.Tensor) and isinstance(got, torch.Tensor)
    if tensors and want.shape == got.shape and want.numel() > 9:
        width = want.element_size()
        wrong = (raw(want) != raw(got)).view(-1, width).any(1).nonzero().flatten()
        some = wrong[:8]
        head = f"{len(wrong)} of {want.numel()} differ, at {some.tolist()}: "
        return head + str(want.flatten()[some].tolist()), head + str(got.flatten()[some].tolist())
    return want, got


def first_difference(want, got):
    """(place, kind, what the CPU shows, what the device shows), or None."""
    for (place, kind, expected), (other_place, other_kind, actual) in zip(want, got):
        if (place, kind) != (other_place, other_kind):
            at = place if place == other_place else f"{place}, {other_place}"
            return at, f"{kind} against {other_kind}", brief(expected), brief(actual)
        if type(expected) is not type(actual) or not same(expected, actual):
            left, right = pointed(expected, actual)
            return place, kind, brief(left), brief(right)
    if len(want) != len(got):
        return "end", "length", str(len(want)), str(len(got))
    return None
