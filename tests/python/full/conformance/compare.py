"""Compares what was seen on the device with what was seen on CPU; the answer is a Verdict."""
import collections
import re

import torch
from torch.testing._comparison import default_tolerances

from conformance import CATEGORIES
from conformance.observe import Seen

# ulps is None for integers and where distances make no sense.
Verdict = collections.namedtuple("Verdict", "category detail ulps gap", defaults=(None, None))
EQUAL = Verdict("bit_equal", "", 0, 0)


def bits(t):
    """The bytes of a CPU tensor in logical order; one NaN is as good as another."""
    if t.is_complex():
        t = torch.view_as_real(t)
    if t.is_floating_point():
        t = torch.where(t.isnan(), torch.nan, t)
    return t.clone(memory_format=torch.contiguous_format).reshape(-1).view(torch.uint8)


def in_order(t):
    """Floats as integers such that neighbours differ by one."""
    integer = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[t.element_size()]
    i = t.clone(memory_format=torch.contiguous_format).reshape(-1).view(integer).long()
    return torch.where(i < 0, -(i & torch.iinfo(integer).max), i)


def distances(actual, expected):
    """Greatest distance in ulps (None for integers) and in value."""
    if actual.is_complex():
        actual, expected = torch.view_as_real(actual), torch.view_as_real(expected)
    gap = (actual.double() - expected.double()).abs()
    gap = torch.where(actual == expected, 0.0, gap)
    gap = torch.where(actual.isnan() & expected.isnan(), 0.0, gap).nan_to_num(nan=float("inf"))
    ulps = None
    if actual.is_floating_point():
        gaps = gap.reshape(-1)
        apart = (in_order(actual) - in_order(expected)).abs().double()
        ulps = torch.where(gaps.isinf(), float("inf"), torch.where(gaps == 0, 0.0, apart)).max().item()
    return ulps, gap.max().item()


def compare_tensor(actual, expected, tolerances):
    for name in ("dtype", "shape", "stride", "layout"):
        a, e = getattr(actual, name), getattr(expected, name)
        if a != e:
            return Verdict("wrong", f"{name} {a}, want {e}")
    a, e = actual.values, expected.values
    if torch.equal(bits(a), bits(e)):
        return EQUAL
    ulps, gap = distances(a, e)
    rtol, atol = tolerances(a.dtype)
    if (a.is_floating_point() or a.is_complex()) and torch.allclose(a, e, rtol=rtol, atol=atol, equal_nan=True):
        return Verdict("close", "values" if gap else "signs of zeros", ulps, gap)
    return Verdict("wrong", "values", ulps, gap)


def same_plain(actual, expected):
    try:
        both_nan = actual != actual and expected != expected
        return type(actual) is type(expected) and bool(actual == expected or both_nan)
    except Exception:
        return True


def message_of(error, device):
    """An error's message without the names of devices and addresses."""
    text = re.sub(rf"(?i)privateuseone|privateuse1|{re.escape(device)}|cpu", "DEVICE", str(error))
    text = re.sub(r"DEVICE:\d+", "DEVICE", text)
    return re.sub(r"0x[0-9a-f]+", "ADDRESS", text)


def short(error):
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0][:160] if text else ''}"


def compare_errors(actual, expected, device, messages_matter):
    """The verdict where one of the two raised, else None."""
    if expected.error and actual.error:
        if type(actual.error) is not type(expected.error):
            return Verdict("wrong", f"{short(actual.error)}; want {short(expected.error)}")
        if messages_matter and message_of(actual.error, device) != message_of(expected.error, device):
            return Verdict("wrong", f"message {short(actual.error)}; want {short(expected.error)}")
        return EQUAL._replace(detail="raises")
    if expected.error:
        return Verdict("no_error_on_device", f"want {short(expected.error)}")
    if actual.error:
        return Verdict("error_on_device_only", short(actual.error))
    return None


def compare_values(actual, expected, tolerances, values_matter, random_matters):
    """The worst verdict of all results, and of all inputs after the call."""
    worst = EQUAL
    pairs = [(f"result {i}", a, e) for i, (a, e) in enumerate(zip(actual.leaves, expected.leaves))]
    pairs += [(f"input {i} afterwards", a, e) for i, (a, e) in enumerate(zip(actual.inputs, expected.inputs))]
    for name, a, e in pairs:
        if not isinstance(e, Seen):
            if not same_plain(a, e):
                return Verdict("wrong", f"{name}: {a!r}, want {e!r}"[:200])
            continue
        verdict = compare_tensor(a, e, tolerances)
        differs = verdict.category != "bit_equal" and verdict.detail in ("values", "signs of zeros")
        if differs and not values_matter:
            return Verdict("skipped", "uninitialized memory, only metadata compared")
        if differs and expected.drew and not random_matters:
            return Verdict("skipped", "random numbers, only metadata compared")
        if verdict.category == "wrong" and not differs:
            return Verdict("wrong", f"{name}: {verdict.detail}")
        if rank(verdict) > rank(worst):
            worst = verdict._replace(detail=f"{name}: {verdict.detail}")
    return worst


def rank(verdict):
    return CATEGORIES.index(verdict.category), float(verdict.ulps or 0), float(verdict.gap or 0)


def compare(actual, expected, device, tolerances, values_matter=True, messages_matter=False, own_random=False):
    """The verdict on one run of the device against the CPU's."""
    verdict = compare_errors(actual, expected, device, messages_matter)
    if verdict is not None:
        return verdict
    if actual.tree != expected.tree:
        return Verdict("wrong", f"structure {actual.tree}, want {expected.tree}")
    if actual.aliases != expected.aliases:
        return Verdict("wrong", f"aliasing {actual.aliases}, want {expected.aliases}")
    return compare_values(actual, expected, tolerances, values_matter, not own_random)


def tolerances_of(info):
    """The default tolerances, widened by those that an OpInfo or ModuleInfo asks for."""
    wider = collections.defaultdict(lambda: (0.0, 0.0))
    for decorate in getattr(info, "decorators", ()):
        for decorator in getattr(decorate, "decorators", [decorate]):
            for dtype, tol in getattr(decorator, "d", {}).items():
                if hasattr(tol, "rtol"):
                    wider[dtype] = max(wider[dtype][0], tol.rtol), max(wider[dtype][1], tol.atol)

    def tolerances(dtype):
        try:
            rtol, atol = default_tolerances(dtype)
        except ValueError:
            rtol, atol = 0.0, 0.0
        return max(rtol, wider[dtype][0]), max(atol, wider[dtype][1])

    return tolerances
