#!/usr/bin/env python3
"""Soak: iterations of training and evaluation on two threads with injected faults, compared with the CPU bit by bit.

    run_soak.py --iterations 10000 --json report.json

The faults come from the emulator (TORCH_NEURON_EMULATOR_…, set here unless the environment sets them) and from the
program. Each thread has a stream of its own: a failure is told to who waits for its stream.
The exit code is 0 if no bit differs, nothing leaks and nothing hangs.
"""
import argparse
import faulthandler
import gc
import json
import os
import sys
import threading
import time

FAULTS = {
    "TORCH_NEURON_EMULATOR_SEED": "11",
    "TORCH_NEURON_EMULATOR_LAUNCH_FAILURES": "0.003",
    "TORCH_NEURON_EMULATOR_ALLOCATION_FAILURES": "0.002",
    "TORCH_NEURON_EMULATOR_REFUSALS": "0.01",
    "TORCH_NEURON_EMULATOR_DELAY_US": "2",
    "TORCH_NEURON_MEMORY_BYTES": str(64 << 20),
}


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--iterations", type=int, default=10000, help="of all threads together")
    add("--threads", type=int, default=2)
    add("--seed", type=int, default=0)
    add("--share", type=float, default=0.05, help="of iterations with a fault of the program's own")
    add("--growth", type=int, default=32, help="MiB by which the resident set may grow after the first quarter")
    add("--patience", type=float, default=300, help="seconds without progress that mean a hang")
    add("--json", metavar="FILE")
    return parser.parse_args()


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def watch(players, threads, settings):
    """Waits for the threads. Ends the process, with all stacks, if none of them gets on. Gives samples of memory."""
    samples, last = [], -1
    faulthandler.dump_traceback_later(settings.patience, exit=True)
    while any(thread.is_alive() for thread in threads):
        threads[0].join(0.2) if threads[0].is_alive() else time.sleep(0.2)
        done = sum(player.progress for player in players)
        if done != last:
            last = done
            faulthandler.dump_traceback_later(settings.patience, exit=True)
        if done * 16 >= (len(samples) + 1) * settings.iterations:
            samples.append(resident())
    faulthandler.cancel_dump_traceback_later()
    return samples


def settle(torch):
    """Waits until all work is done and all its failures are told."""
    while True:
        try:
            torch.neuron.synchronize()
            return
        except Exception:
            continue


def play(settings):
    import torch

    from soak.player import Player

    torch.set_num_threads(1)
    torch.neuron.init()
    before = torch.neuron.memory_allocated()
    per_thread = settings.iterations // settings.threads
    players = [Player(settings.seed * 100 + i, per_thread, settings.share) for i in range(settings.threads)]
    threads = [threading.Thread(target=player.run) for player in players]
    for thread in threads:
        thread.start()
    samples = watch(players, threads, settings)
    gc.collect()
    settle(torch)
    metrics = torch.neuron.metrics()
    return {
        "iterations": sum(player.progress for player in players),
        "counts": dict(sum((player.counts for player in players), players[0].counts.__class__())),
        "differences": [text for player in players for text in player.differences],
        "errors": [f"{type(player.error).__name__}: {player.error}" for player in players if player.error],
        "leaked_bytes": torch.neuron.memory_allocated() - before,
        "resident_mib": samples,
        "growth_mib": samples[-1] - samples[len(samples) // 4] if samples else 0,
        "metrics": {name: metrics[name] for name in ("ops_recorded", "launch_failures", "launches_skipped", "syncs",
                                                     "queue_full_waits", "segments_launched")},
    }


def is_good(report, settings):
    return (not report["differences"] and not report["errors"] and report["leaked_bytes"] == 0
            and report["growth_mib"] <= settings.growth
            and report["iterations"] == settings.iterations // settings.threads * settings.threads)


def main():
    settings = options()
    for name, value in FAULTS.items():
        os.environ.setdefault(name, value)
    start = time.monotonic()
    report = play(settings)
    report["good"] = is_good(report, settings)
    report["seconds"] = round(time.monotonic() - start)
    print(json.dumps(report, indent=1))
    if settings.json:
        with open(settings.json, "w") as file:
            json.dump(report, file, indent=1)
    return int(not report["good"])


if __name__ == "__main__":
    sys.exit(main())
