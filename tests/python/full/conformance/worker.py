"""A worker: makes the list of units from PyTorch's databases and runs one for each number on its standard input."""
import importlib
import json
import os
import random
import re
import sys
import warnings

import torch

from conformance.compare import short
from conformance.modules import ModuleUnit
from conformance.operations import OperationUnit
from conformance.optimizers import OptimizerUnit


def load_device(device):
    if device != "cpu" and not hasattr(torch, device):  # where `import torch` does not load it
        importlib.import_module("adaptive_eager")


def all_units(dtypes):
    """(kind of unit, name, dtype or None, info) of everything in the databases; operations without a dtype: errors."""
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.testing._internal.common_modules import module_db
    from torch.testing._internal.common_optimizers import optim_db

    floats = [d for d in dtypes if d.is_floating_point]
    for info in op_db:
        name = info.name + (f".{info.variant_test_name}" if info.variant_test_name else "")
        yield OperationUnit, name, None, info
        yield from ((OperationUnit, name, d, info) for d in dtypes if d in info.supported_dtypes("cpu"))
    for info in module_db:
        yield from ((ModuleUnit, "nn." + info.module_cls.__name__, d, info) for d in floats)
    for info in optim_db:
        yield from ((OptimizerUnit, "optim." + info.optim_cls.__name__, d, info) for d in floats
                    if d != torch.float16)


def part_of(units, settings):
    """Those that --ops names; of these with --part I/N every N-th, and with --sample N one of each N-th of the list."""
    units = [unit for unit in units if re.search(settings.ops, unit[1])]
    first, step = settings.part
    units = units[first::step]
    count = min(settings.sample or len(units), len(units))
    draw = random.Random(settings.seed)
    bounds = [i * len(units) // count for i in range(count + 1)] if count else [0]
    return [units[draw.randrange(*pair) if settings.sample else pair[0]] for pair in zip(bounds, bounds[1:])]


class Worker:
    def __init__(self, settings):
        torch.set_num_threads(settings.threads)
        load_device(settings.device)
        self.settings = settings
        dtypes = [getattr(torch, name) for name in settings.dtypes.split(",")]
        self.missing = [d for d in dtypes if not self.has(d)]
        self.units = part_of(all_units(dtypes), settings)

    def has(self, dtype):
        try:
            torch.ones(1, dtype=dtype).to(self.settings.device)
            return True
        except Exception:
            return False

    def names(self):
        return [f"{name} {str(dtype)[6:] if dtype else 'errors'}" for _, name, dtype, _ in self.units]

    def fallbacks(self):
        """How often the device fell back to CPU; None if it does not count."""
        try:
            return int(getattr(torch, self.settings.device).metrics()["cpu_fallbacks"])
        except (AttributeError, KeyError):
            return None

    def run(self, index):
        kind, name, dtype, info = self.units[index]
        unit = kind(self.settings, name, dtype, info)
        before = self.fallbacks()
        if dtype in self.missing:
            unit.add("forward", 0, "skipped", f"the device has no {str(dtype)[6:]}")
        else:
            try:
                unit.run()
            except Exception as error:  # not the device's answer but a failure to look at it
                unit.add("forward", 0, "crashed", short(error))
        return {
            "counts": [[mode, category, n] for (mode, category), n in unit.counts.items()],
            "reasons": dict(unit.reasons),
            "findings": unit.findings,
            "fallbacks": None if before is None else self.fallbacks() - before,
        }


def work(settings):
    """Answers each number on stdin with a line of JSON; what else is printed goes to stderr."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    worker = Worker(settings)
    print(json.dumps(worker.names()), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(worker.run(int(line))), file=answers, flush=True)
