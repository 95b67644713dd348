"""One process that runs many programs under one configuration; tells what it does in lines of JSON.

    {"begin": seed}, {"end": seed, "result": "same" | "undefined" | "known: …"},
    {"difference": seed, "program": …, "small": …, "found": […]}   it ends after the first one: the device may be ill
"""
import faulthandler
import json
import sys
import time

import torch

from fuzz import check, generate, known, shrink

HANG = 180  # seconds for one program, on a machine that has other things to do


def say(**words):
    print(json.dumps(words), flush=True)


def examine(program, rate, seconds):
    """Runs one program; on a difference shrinks it and says so. True if the worker may go on."""
    seed = program["seed"]
    faulthandler.dump_traceback_later(HANG, exit=True)
    found = check.check(program, rate)
    if isinstance(found, tuple) and check.on_cpu(check.compiled(program)) is None:
        found = "undefined"
    if not isinstance(found, tuple):
        say(end=seed, result=found or "same")
        return True
    name = known.known(found)
    if name:
        say(end=seed, result=f"known: {name}")
        return True

    def still(candidate):
        faulthandler.dump_traceback_later(HANG, exit=True)
        return alike(found, check.check(candidate, rate, cpu_runs=check.CPU_RUNS))

    say(difference=seed, program=program, found=found)
    small = shrink.shrink(program, still, seconds)
    again = check.check(small, rate, repeats=6)
    say(difference=seed, program=program, small=small, found=again if isinstance(again, tuple) else found)
    return False


def alike(found, other):
    """Whether a smaller program shows the same kind of difference, and not another one."""
    return isinstance(other, tuple) and other[1] == found[1]


def main(arguments):
    """usage: JSON with first, count, rate, threads, seconds (for one shrinking), until (seconds), or program"""
    order = json.loads(arguments[0])
    torch.set_num_threads(order["threads"])
    end = time.monotonic() + order.get("until", 1e9)
    if "program" in order:
        say(begin=order["program"]["seed"])
        examine(order["program"], order["rate"], order["seconds"])
        return
    for seed in range(order["first"], order["first"] + order["count"]):
        if time.monotonic() > end:
            break
        say(begin=seed)
        faulthandler.dump_traceback_later(HANG, exit=True)
        if not examine(generate.generate(seed), order["rate"], order["seconds"]):
            break


if __name__ == "__main__":
    main(sys.argv[1:])
