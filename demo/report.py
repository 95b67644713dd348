"""What the demo shows: the comparison bit by bit, the table, the plot and the figures."""
import json
import platform
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from tasks import Entry
from train import Run

# Counters that the table shows, with their headings.
COUNTERS = {
    "segments_launched": "launches",
    "ops_recorded": "recorded",
    "ops_inline": "inline",
    "syncs": "syncs",
}


@dataclass
class Comparison:
    """One model, trained on the CPU and on the device."""

    name: str
    entry: Entry
    cpu: Run
    device: Run

    def differences(self) -> list[str]:
        """Names of what is not bit-identical."""
        pairs = {"losses": (self.cpu.losses, self.device.losses)}
        pairs |= {key: (value, self.device.state[key]) for key, value in self.cpu.state.items()}
        return [key for key, (expected, actual) in pairs.items() if not same_bits(expected, actual)]


def same_bits(expected: Tensor, actual: Tensor) -> bool:
    """Whether dtype, shape and every bit are equal; any NaN equals any NaN."""
    if expected.dtype != actual.dtype or expected.shape != actual.shape:
        return False
    return torch.equal(_bytes(expected), _bytes(actual))


def _bytes(tensor: Tensor) -> Tensor:
    if tensor.is_floating_point():
        tensor = torch.where(tensor.isnan(), torch.nan, tensor)
    return tensor.contiguous().view(-1).view(torch.uint8)


def table(comparisons: list[Comparison]) -> str:
    """The main figures, a row a model."""
    device = comparisons[0].device.device
    header = ["model", "steps", "cpu steps/s", f"{device} steps/s", "ratio", "peak MiB"]
    header += [*COUNTERS.values(), "test", "identical"]
    rows = [header]
    for each in comparisons:
        cpu, other = each.cpu, each.device
        row = [each.entry.title, f"{len(cpu.losses):,}", f"{cpu.steps_per_second:,.1f}"]
        row += [f"{other.steps_per_second:,.1f}", f"{other.steps_per_second / cpu.steps_per_second:.2f}"]
        row += [f"{other.peak_bytes / 2**20:,.1f}"]
        row += [f"{other.counters[name]:,}" if name in other.counters else "-" for name in COUNTERS]
        row += [f"{other.score:.2f} {each.entry.score}", "no" if each.differences() else "yes"]
        rows.append(row)
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    aligned = [[row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])] for row in rows]
    lines = ["  ".join(row) for row in aligned]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def save_figures(comparisons: list[Comparison], threads: int, path: Path) -> None:
    """Everything that was measured, as JSON."""
    models = {
        each.name: {
            "identical": not each.differences(),
            "differences": each.differences(),
            "steps": len(each.cpu.losses),
            "parameters": each.cpu.parameters,
            "cpu_steps_per_second": each.cpu.steps_per_second,
            "device_steps_per_second": each.device.steps_per_second,
            "peak_bytes": each.device.peak_bytes,
            "score": each.device.score,
            "counters": each.device.counters,
            "losses": each.device.losses.tolist(),
        }
        for each in comparisons
    }
    versions = {"torch": torch.__version__, "python": platform.python_version(), "threads": threads}
    path.write_text(json.dumps({**versions, "device": comparisons[0].device.device, "models": models}, indent=2))


def save_plot(comparisons: list[Comparison], path: Path) -> None:
    """The loss curves: the CPU's as a broad band, the device's as a thin line that lies inside it."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(comparisons), figsize=(4.6 * len(comparisons), 3.8), squeeze=False)
    for panel, each in zip(panels[0], comparisons):
        steps = range(1, len(each.cpu.losses) + 1)
        panel.plot(steps, each.cpu.losses, color="#9ecae1", linewidth=5, solid_capstyle="round", label="cpu")
        panel.plot(steps, each.device.losses, color="#b2182b", linewidth=1, label=each.device.device)
        verdict = "different" if each.differences() else "identical bits"
        panel.set_title(f"{each.entry.title}: {verdict}", fontsize=11)
        panel.set_xlabel("step")
        if each.cpu.losses.max() > 20 * each.cpu.losses.min():
            panel.set_yscale("log")
        panel.grid(color="#dddddd", linewidth=0.6)
        panel.spines[["top", "right"]].set_visible(False)
        panel.legend(frameon=False)
    panels[0][0].set_ylabel("training loss")
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)
