"""A unit: one operation, module or optimizer with one dtype. It runs checks and keeps their results."""
import collections
import itertools
import random
import zlib

import numpy
import torch

from conformance.compare import compare, tolerances_of
from conformance.observe import Seen, Skip, observe, tensors_in

SAMPLES_SEEN = 40  # of which --limit are taken, evenly spread

# PyTorch itself wants the arguments after the first on CPU.
CPU_ARGUMENTS = {"tensor_split"}


class Unit:
    """Subclasses say in run() what is checked. `settings` are the options of the command."""

    def __init__(self, settings, name, dtype, info):
        self.settings, self.name, self.dtype, self.info = settings, name, dtype, info
        self.seed = zlib.crc32(f"{name} {dtype}".encode()) & 0x7FFFFFFF
        self.tolerances = tolerances_of(info)
        self.counts = collections.Counter()
        self.reasons = collections.Counter()
        self.findings = []

    def add(self, mode, sample, category, detail="", ulps=None, gap=None):
        self.counts[mode, category] += 1
        if category == "skipped":
            self.reasons[detail] += 1
        elif category != "bit_equal":
            self.findings.append({"mode": mode, "sample": sample, "category": category, "detail": detail,
                                  "ulps": ulps, "abs": gap})

    def check(self, mode, sample, call, values, values_matter=True):
        """Calls call(*values) on CPU and on the device, here as often as asked for, and notes the verdict."""
        device, keep = self.settings.device, self.name in CPU_ARGUMENTS
        try:
            expected = observe(call, values, "cpu", self.seed)
            if any(isinstance(leaf, Seen) and leaf.layout != torch.strided for leaf in expected.leaves):
                raise Skip("result is not a strided tensor")
            for _ in range(self.settings.repeat):
                actual = observe(call, values, device, self.seed, keep)
                verdict = compare(actual, expected, device, self.tolerances, values_matter,
                                  messages_matter=mode == "errors", own_random=self.settings.own_random)
                if verdict.category != "bit_equal":
                    break
        except Skip as skip:
            return self.add(mode, sample, "skipped", str(skip))
        self.add(mode, sample, *verdict)

    def seeded(self):
        torch.manual_seed(self.seed)
        random.seed(self.seed)
        numpy.random.seed(self.seed)


def spread(iterable, limit):
    """At most limit of the first SAMPLES_SEEN, evenly spread."""
    seen = list(itertools.islice(iterable, SAMPLES_SEEN))
    if len(seen) <= limit:
        return seen
    return [seen[i * (len(seen) - 1) // max(limit - 1, 1)] for i in range(limit)]


def gradients(result, inputs):
    """Gradients of all differentiable results, weighted by fixed numbers, for all inputs that want one."""
    wanted = [t for t in inputs if t.requires_grad]
    outs = [t for t in tensors_in(result) if t.requires_grad and t.grad_fn is not None]
    if not outs or not wanted:
        return []
    generator = torch.Generator().manual_seed(7)
    weights = []
    for out in outs:
        dtype = out.dtype
        weight = torch.randn(out.shape, generator=generator, dtype=dtype if dtype.is_complex else torch.float32)
        weights.append(weight.to(dtype).to(out.device))
    return list(torch.autograd.grad(outs, wanted, weights, allow_unused=True))
