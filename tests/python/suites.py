"""Runs the commands of full/ (conformance, models, soak) in processes of their own and reads their reports."""
import json
import os
import subprocess
import sys
from pathlib import Path

FULL = Path(__file__).parent / "full"


def report_of(command, folder, *arguments, timeout=3000):
    """Runs full/COMMAND.py; gives its report, and what it printed."""
    path = Path(folder) / "report.json"
    line = [sys.executable, "-B", FULL / f"{command}.py", *map(str, arguments), "--json", path]
    child = subprocess.run(line, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)
    assert path.exists(), f"{command} ended with code {child.returncode}:\n{child.stdout[-4000:]}"
    return json.loads(path.read_text()), child.stdout


# What the device refuses to make, so that what lies behind it cannot be compared: docs/support.md.
REFUSED = {("to_sparse", "backward"): "has no tensors of this kind (Sparse)"}


def refused(finding):
    text = REFUSED.get((finding["op"].split()[0], finding["mode"]))
    return finding["category"] == "error_on_device_only" and text is not None and text in finding["detail"]


def nothing_differs(report, text):
    """All checks of a conformance report found equal bits, were skipped with a reason, or refused as listed."""
    assert report["totals"].get("bit_equal", 0) > 0, text
    assert [finding for finding in report["findings"] if not refused(finding)] == [], text
    assert not report["cpu_fallback"], text


def all_bits(report, text):
    """All models of a report gave equal bits in every stage."""
    assert report["models"] and set(report["totals"]) == {"bits"}, text


def lasting(report, text):
    """A soak met faults of every kind and came through them."""
    assert report["good"], text
    kinds = {"injected RuntimeError", "injected OutOfMemoryError", "UserError", "IndexError", "recovered"}
    if os.environ.get("TORCH_NEURON_VERIFY", "0") != "0":
        kinds -= {"injected RuntimeError"}  # every op runs at the call: no launch can fail
    assert kinds <= set(report["counts"]), text
