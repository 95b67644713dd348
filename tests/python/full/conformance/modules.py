"""Checks of one module: forward with buffers, and gradients, in training and in evaluation."""
import torch

from conformance.compare import short
from conformance.observe import tensors_in
from conformance.unit import Unit, gradients, spread


class ModuleUnit(Unit):
    """A ModuleInfo."""

    def run(self):
        self.seeded()
        for training in (True, False) if self.info.train_and_eval_differ else (True,):
            try:
                samples = spread(self.info.module_inputs_func(
                    self.info, device="cpu", dtype=self.dtype, requires_grad=True, training=training),
                    self.settings.limit)
            except Exception as error:
                return self.add("forward", 0, "skipped", f"no samples on this machine: {short(error)[:60]}")
            for i, sample in enumerate(samples):
                if sample.forward_input is not None:
                    self.module(f"{i} {'train' if training else 'eval'}", sample, training)

    def module(self, name, sample, training):
        make, inputs = sample.constructor_input, sample.forward_input

        def forward(args, kwargs, reference, back):
            torch.manual_seed(self.seed)
            module = self.info.module_cls(*make.args, **make.kwargs).to(self.dtype)
            module = module.to(reference.device).train(training)
            torch.manual_seed(self.seed)
            result = module(*args, **kwargs)
            if not back:
                return result, dict(module.named_buffers())
            wanted = [p for p in module.parameters() if p.requires_grad]
            return gradients(result, wanted + tensors_in((args, kwargs)))

        reference = torch.zeros(())  # tells forward where it runs
        for mode in ("forward", "backward"):
            if mode in self.settings.modes:
                self.check(mode, name, forward, (inputs.args, inputs.kwargs, reference, mode == "backward"))
