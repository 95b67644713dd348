"""Checks of one optimizer: a few steps, plain, with lists (foreach) and fused."""
import torch

from conformance.unit import Unit, spread

STEPS = 3

# CPU's fused SGD with momentum starts from memory that nobody wrote (PyTorch 2.13).
UNSTABLE = torch.optim.SGD, torch.bfloat16, "fused"


class OptimizerUnit(Unit):
    """An OptimizerInfo."""

    def run(self):
        if "forward" not in self.settings.modes:
            return
        if self.info.only_supports_sparse_grads:
            return self.add("step", 0, "skipped", "needs sparse gradients")
        inputs = spread(self.info.optim_inputs_func("cpu"), 3 * self.settings.limit)
        for kind in self.kinds():
            for i, one in enumerate(inputs):
                if (self.info.optim_cls, self.dtype, kind) == UNSTABLE and "momentum" in one.kwargs:
                    self.add("step", f"{i} {kind}", "skipped", "CPU itself reads memory that nobody wrote")
                else:
                    self.optimizer(f"{i} {kind}", one.kwargs, kind)

    def kinds(self):
        foreach = "foreach" in self.info.supported_impls
        fused = "cpu" in self.info.supports_fused_on
        return ["plain"] + foreach * ["foreach"] + fused * ["fused"]

    def arguments(self, kwargs, kind):
        if "foreach" in self.info.supported_impls:
            kwargs = dict(kwargs, foreach=kind == "foreach")
        if kind == "fused":
            kwargs = dict(kwargs, fused=True, foreach=False)
        return dict(kwargs)

    def optimizer(self, name, kwargs, kind):
        self.seeded()
        class_name = self.info.optim_cls.__name__
        shapes = ((4, 5), (3, 2)) if class_name == "Muon" else ((4, 5), (7,), ())
        start = [torch.randn(shape, dtype=self.dtype) for shape in shapes]
        slopes = [torch.randn(shape, dtype=self.dtype) for shape in shapes]

        def steps(start, slopes, kwargs):
            params = [p.clone().requires_grad_() for p in start]
            optimizer = self.info.optim_cls(params, **kwargs)

            def closure():
                optimizer.zero_grad()
                loss = sum(((p * g) ** 2 + p * g).sum() for p, g in zip(params, slopes))
                loss.backward()
                return loss

            losses = [optimizer.step(closure).detach() for _ in range(STEPS)]
            state = [optimizer.state[p] for p in params] if class_name != "LBFGS" else []
            # Step counters may stay on CPU on some devices: their values count, wherever they are.
            return [p.detach() for p in params], losses, [dict(sorted(s.items())) for s in state]

        self.check("step", name, steps, (start, slopes, self.arguments(kwargs, kind)))
