"""Compares what the stages of a model gave on the device and on CPU."""
import sys
import time

import torch

from zoo.stages import LEARNING_RATE, STAGES, build, run

RANK = ("", "bits", "close", "wrong", "error")
RTOL, ATOL = 1e-3, 1e-4


def bits(t):
    return t.clone(memory_format=torch.contiguous_format).reshape(-1).view(torch.uint8)


def compare_errors(stage, actual, expected):
    """The verdict where one of the two raised, else None."""
    if isinstance(expected, Exception):
        same = type(actual) is type(expected)
        return "error", f"on CPU: {type(expected).__name__}: {expected}" if same else "raises on CPU only"
    if isinstance(actual, Exception):
        return "error", f"{stage}: {type(actual).__name__}: {actual}"
    return None


def is_close(actual, expected, atol):
    loose = 10 if actual.dtype in (torch.bfloat16, torch.float16) else 1
    size = max(1.0, expected[expected.isfinite()].abs().max().item()) if expected.isfinite().any() else 1.0
    return torch.allclose(actual, expected, RTOL * loose, atol * loose * size, equal_nan=True)


def compare(stage, actual, expected):
    """bits, close, wrong or error; and a detail."""
    verdict = compare_errors(stage, actual, expected)
    if verdict:
        return verdict
    if len(actual) != len(expected):
        return "wrong", f"{stage}: {len(actual)} tensors, want {len(expected)}"
    atol = max(ATOL, 2.5 * LEARNING_RATE) if stage == "step" else ATOL  # Adam magnifies the noise of tiny gradients
    result, worst = "bits", 0.0
    for (looks, a), (want, e) in zip(actual, expected):
        if looks != want:
            return "wrong", f"{stage}: {looks}, want {want}"
        if torch.equal(bits(a), bits(e)):
            continue
        if not a.is_floating_point():
            return "wrong", f"{stage}: other values"
        gap = (a.double() - e.double()).abs()[~(a.isnan() & e.isnan())].nan_to_num(nan=float("inf"))
        worst = max(worst, gap.max().item() if gap.numel() else 0.0)
        if not is_close(a, e, atol):
            return "wrong", f"{stage}: differs by {worst:.3g}"
        result = "close"
    return result, f"{stage}: differs by {worst:.3g}" if result == "close" else ""


def check(name, entry, settings):
    """The row of a model: its verdict for each stage and in all, details, sizes and times."""
    row = {"name": name, "kind": entry.kind, "details": []}
    getattr(sys.modules[entry.library], entry.model, None)  # imports it before the clock starts
    start = time.monotonic()
    try:
        model, inputs = build(entry, getattr(torch, settings.dtype), settings.attention)
    except Exception as error:
        row["details"] = [f"build: {type(error).__name__}: {error}"]
        return row | {"result": "error", "seconds": time.monotonic() - start}
    row["parameters"] = sum(p.numel() for p in model.parameters())
    expected = run(entry, model, inputs, "cpu")
    row["cpu_seconds"] = time.monotonic() - start
    actual = run(entry, model, inputs, settings.device)
    for stage in STAGES:
        if stage in expected and stage in actual:
            row[stage], detail = compare(stage, actual[stage], expected[stage])
            row["details"] += [detail] if detail else []
    if "parameters" in actual and actual["parameters"] != expected.get("parameters"):
        row["forward"] = "wrong"
        row["details"].append("tied parameters came apart")
    row["result"] = max((row.get(stage, "") for stage in STAGES), key=RANK.index)
    row["seconds"] = time.monotonic() - start
    return row
