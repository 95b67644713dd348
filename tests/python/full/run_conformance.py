#!/usr/bin/env python3
"""Conformance: every operation, module and optimizer that PyTorch tests itself with, on the device and on CPU.

Each sample of torch.testing's op_db, module_db and optim_db runs twice from one seed, on CPU and on the
device. The two must agree in bits, dtype, shape, stride, in what shares storage with what, and in errors.

    run_conformance.py --device cpu                         sanity: all bit_equal
    run_conformance.py --ops 'softmax|nn.Linear' --modes forward,backward
    run_conformance.py --jobs 2 --json report.json
    run_conformance.py --sample 60                          some units, spread over all

Categories
    bit_equal             same bits and metadata, or the same error
    close                 same metadata; values within the tolerances of the OpInfo
    wrong                 other values, metadata, aliasing, or another error
    error_on_device_only  CPU gives a result, the device raises
    no_error_on_device    CPU raises, the device gives a result
    crashed               the process died or hung
    skipped               not compared, with a reason
Operations that ran by fallback to CPU are counted apart, if the device has counters. A NaN equals any NaN.
The exit code is 0 if nothing is wrong, raises on one side only, or crashed.
"""
import argparse
import sys
import time

from conformance import BAD

DTYPES = "float32,float64,bfloat16,float16,int64,int32,bool"
MODES = "forward,backward,inplace,out,errors"


def part(text):
    """'3/8' is the fourth of eight parts: first index and step."""
    first, _, step = text.partition("/")
    return int(first), int(step)


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--device", default="neuron")
    add("--ops", default="", metavar="REGEX", help="names to run: 'add', 'nn.Linear', 'optim.Adam'")
    add("--part", type=part, default=(0, 1), metavar="I/N", help="every N-th unit, from the I-th on")
    add("--sample", type=int, default=0, metavar="N", help="N units, spread over all; 0: all")
    add("--seed", type=int, default=0, help="of the sample")
    add("--dtypes", default=DTYPES)
    add("--modes", default=MODES)
    add("--limit", type=int, default=4, help="samples of each operation and dtype")
    add("--repeat", type=int, default=1, help="runs on the device; more reach the tiers of hot code")
    add("--threads", type=int, default=1, help="threads that an operation computes with")
    add("--jobs", type=int, default=2)
    add("--own-random", action="store_true", help="the device draws other numbers than CPU: only metadata of random "
        "results is compared")
    add("--timeout", type=float, default=120, help="seconds for one operation and dtype")
    add("--worst", type=int, default=40, help="offenders to print")
    add("--json", metavar="FILE")
    add("--worker", action="store_true", help=argparse.SUPPRESS)
    settings = parser.parse_args()
    settings.modes = set(settings.modes.split(","))
    return settings


def main():
    settings = options()
    if settings.worker:
        from conformance.worker import work
        return work(settings)
    from conformance.parent import run_all
    from conformance.report import Report
    start = time.monotonic()
    answers = run_all(settings)
    report = Report(settings, answers, time.monotonic() - start)
    report.show()
    if settings.json:
        report.save(settings.json)
    return int(any(report.totals[c] for c in BAD))


if __name__ == "__main__":
    sys.exit(main())
