"""Checks of one operation: forward, in place, with out=, backward, and the errors that it should raise."""
import collections

import torch
from torch.utils import _pytree as pytree

from conformance.compare import short
from conformance.observe import Mover, tensors_in
from conformance.unit import Unit, gradients, spread

Sample = collections.namedtuple("Sample", "input args kwargs")

# Their results are memory that nobody wrote: only metadata is compared.
UNINITIALIZED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided",
                 "resize_", "resize_as_"}

# What a result may be written into: memory of the right shape, of no size, of other strides, of another dtype.
OUTS = {
    "right": lambda t: torch.full_like(t, 1, memory_format=torch.contiguous_format),
    "empty": lambda t: torch.empty(0, dtype=t.dtype),
    "strided": lambda t: spaced(torch.ones_like(t)),
    "int64": lambda t: torch.ones(t.shape, dtype=torch.int64),
}


def spaced(t):
    """The same values in every other place of a larger memory."""
    if t.layout != torch.strided or t.device.type != "cpu":
        return t
    return torch.stack([torch.ones_like(t), t.detach()], -1)[..., 1]


def map_tensors(change, values):
    return pytree.tree_map(lambda v: change(v) if isinstance(v, torch.Tensor) else v, values)


class OperationUnit(Unit):
    """An OpInfo. Without a dtype it checks errors."""

    def run(self):
        if self.dtype is None:
            return self.errors()
        samples = self.spread_samples("forward", requires_grad=False)
        if samples is None:
            return
        if not samples:
            return self.add("forward", 0, "skipped", "the database has no samples")
        samples = [sample for _, sample in samples]
        for mode in ("forward", "inplace", "out"):
            if mode in self.settings.modes:
                getattr(self, mode)(samples)
        if "backward" in self.settings.modes and self.info.supports_autograd and self.dtype.is_floating_point:
            self.backward()

    @property
    def values_matter(self):
        return self.info.name not in UNINITIALIZED

    def samples(self, mode, make):
        """The samples that make() gives, as (sample, plain tuple) pairs; None if the database cannot make them here."""
        self.seeded()
        try:
            return [(s, Sample(s.input, s.args, s.kwargs)) for s in make()]
        except Exception as error:
            self.add(mode, 0, "skipped", f"no samples on this machine: {short(error)[:60]}")
            return None

    def spread_samples(self, mode, requires_grad):
        return self.samples(mode, lambda: spread(
            self.info.sample_inputs("cpu", self.dtype, requires_grad=requires_grad), self.settings.limit))

    def call(self, first, args, kwargs):
        return self.info(first, *args, **kwargs)

    def forward(self, samples):
        for i, sample in enumerate(samples):
            self.check("forward", i, self.call, sample, self.values_matter)
        strided = map_tensors(spaced, tuple(samples[-1]))
        self.check("forward", "noncontiguous", self.call, strided, self.values_matter)

    def inplace(self, samples):
        inplace = self.info.inplace_variant
        if inplace is None:
            return
        for i, sample in enumerate(samples):
            self.check("inplace", i, lambda first, args, kwargs: inplace(first, *args, **kwargs), sample,
                       self.values_matter)

    def out(self, samples):
        if not self.info.supports_out:
            return
        call = lambda s, out: self.info(s[0], *s[1], **s[2], out=out)
        for i, sample in enumerate(samples[:2]):
            torch.manual_seed(self.seed)
            try:
                result = self.call(*Mover("cpu")(tuple(sample)))
            except Exception:
                continue
            for kind, make in OUTS.items():
                try:
                    out = map_tensors(make, result)
                    out = out if isinstance(out, torch.Tensor) else tuple(out)
                except Exception:
                    continue
                self.check("out", f"{i} {kind}", call, (tuple(sample), out), self.values_matter)

    def backward(self):
        if self.dtype not in self.info.supported_backward_dtypes("cpu"):
            return
        for i, (info, sample) in enumerate(self.spread_samples("backward", requires_grad=True) or ()):
            process = info.output_process_fn_grad

            def call(*v):
                return gradients(process(self.call(*v)), tensors_in(v))

            self.check("backward", i, call, sample)

    def errors(self):
        if "errors" not in self.settings.modes or self.info.error_inputs_func is None:
            return
        wrong = self.samples("errors", lambda: [e.sample_input for e in self.info.error_inputs("cpu")])
        for i, (_, sample) in enumerate(wrong or ()):
            self.check("errors", i, self.call, sample)
