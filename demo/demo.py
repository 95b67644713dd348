#!/usr/bin/env python3
"""Trains three small models on the CPU and on `neuron` from one seed, and compares every loss and parameter bit by bit.

    ./dev demo                     everything, under three minutes on two cores
    ./dev demo --quick             fewer steps
    ./dev demo --models cnn,gpt    some of the models

Exit code 1 if a single bit differs.
"""
import argparse
import os
import sys
import time
from pathlib import Path

import torch

from report import Comparison, save_figures, save_plot, table
from tasks import TASKS
from train import train


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="neuron", help="device to compare with the CPU (default: neuron)")
    parser.add_argument("--models", default=",".join(TASKS), help=f"default: {','.join(TASKS)}")
    parser.add_argument("--quick", action="store_true", help="a few dozen steps each")
    parser.add_argument("--steps-scale", type=float, default=1.0, metavar="X", help="X times as many steps")
    parser.add_argument("--threads", type=int, default=1, help="threads of PyTorch's kernels (default: 1)")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="folder of plot and figures")
    arguments = parser.parse_args()
    unknown = set(arguments.models.split(",")) - set(TASKS)
    if unknown:
        parser.error(f"unknown model {', '.join(sorted(unknown))}; there are {', '.join(TASKS)}")
    return arguments


def main() -> int:
    """Runs everything; returns the exit code."""
    arguments = options()
    if arguments.device.startswith("neuron") and not hasattr(torch, "neuron"):
        print("PyTorch does not know the device 'neuron' here: use ./dev demo, or see docs/installing.md")
        return 2
    torch.set_num_threads(arguments.threads)
    mode = "adaptive" if os.environ.get("TORCH_NEURON_ADAPTIVE_EAGER") == "1" else "op by op"
    print(f"cpu against {arguments.device} ({mode}), PyTorch {torch.__version__}, {arguments.threads} thread(s)")
    started = time.perf_counter()
    comparisons = []
    for name in arguments.models.split(","):
        entry = TASKS[name]
        steps = max(2, int((entry.quick_steps if arguments.quick else entry.steps) * arguments.steps_scale))
        runs = [train(entry, device, steps) for device in ("cpu", arguments.device)]
        comparisons.append(Comparison(name, entry, *runs))

    arguments.output.mkdir(parents=True, exist_ok=True)
    plot, figures = arguments.output / "losses.png", arguments.output / "figures.json"
    save_plot(comparisons, plot)
    save_figures(comparisons, arguments.threads, figures)
    print(f"\n{table(comparisons)}\n")
    wrong = {each.entry.title: each.differences() for each in comparisons if each.differences()}
    for title, names in wrong.items():
        print(f"{title}: {len(names)} differ: {', '.join(names[:8])}{' ...' if len(names) > 8 else ''}")
    compared = sum(len(each.cpu.losses) + len(each.cpu.state) for each in comparisons)
    if not wrong:
        print(f"All {compared:,} losses, parameters, buffers, optimizer states and scores are bit-identical.")
    print(f"{time.perf_counter() - started:.0f} s; plot {plot}, figures {figures}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
