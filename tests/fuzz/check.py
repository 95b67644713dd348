"""Runs one program on the CPU and on the device and says how they differ."""
import contextlib
import ctypes

import torch

from fuzz import compare, concurrency, program, runtime

M_PERTURB = -6  # of glibc's mallopt: new memory is filled with a byte
CPU_RUNS = (0, 0x5A, 0xC3)


def fill_new_memory(byte):
    """Makes memory that nobody wrote differ from run to run, so that programs that read it are noticed."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(M_PERTURB, byte)


def compiled(candidate):
    space = {**vars(runtime), **vars(concurrency)}
    exec(compile(program.source(candidate), f"<program {candidate.get('seed')}>", "exec"), space)
    return space["program"]


def recover():
    """A device and switches as at the start, whatever the last program left behind."""
    for _ in range(9):
        with contextlib.suppress(Exception):
            runtime.wait()
            break
    torch.set_default_dtype(torch.float32)
    torch.use_deterministic_algorithms(False)
    torch.set_flush_denormal(False)
    torch.set_grad_enabled(True)


def on_cpu(function, runs=CPU_RUNS):
    """What the CPU shows, or None if it does not show the same each time: such a program is not defined."""
    shown = []
    for byte in runs:
        fill_new_memory(byte)
        shown.append(runtime.run(function, "cpu"))
        recover()
        if compare.first_difference(shown[0], shown[-1]):
            return None
    fill_new_memory(0)
    return shown[0]


def check(candidate, rate=0.0, repeats=2, cpu_runs=CPU_RUNS[:2]):
    """The first difference of any of some runs on the device; None if there is none; "undefined" if the CPU has two."""
    function = compiled(candidate)
    want = on_cpu(function, cpu_runs)
    if want is None:
        return "undefined"
    for repeat in range(repeats):
        disturb = runtime.Disturb(rate, candidate.get("seed", 0) + repeat) if rate else None
        got = runtime.run(function, runtime.DEVICE, disturb)
        recover()
        found = compare.first_difference(want, got)
        if found:
            return found
    return None
