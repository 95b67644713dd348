"""Hooks, checkpoints, saved tensors, functions of one's own, anomalies: the graph is the CPU's."""
import gc
import threading

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

from programs import exact, gradients, same_error, tensor
from surface import DEVICE, bits


def small_model(device):
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.0), nn.Linear(8, 2)).to(device)


def test_hooks_of_tensors():
    def program(device):
        x = tensor(device, 3, 4, grad=True)
        seen = []
        y = x * 2
        y.retain_grad()
        y.register_hook(lambda slope: slope * 3)
        x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad.clone()))
        y.grad_fn.register_prehook(lambda slopes: (slopes[0] + 1,))
        y.grad_fn.register_hook(lambda inputs, outputs: seen.append(inputs[0]))
        removed = x.register_hook(lambda slope: slope * 100)
        removed.remove()
        y.sin().sum().backward()
        return seen, x.grad, y.grad

    exact(program)


def test_hooks_of_modules():
    def program(device):
        model, seen = small_model(device), []
        model[0].register_forward_pre_hook(lambda module, args: (args[0] + 1,))
        model[1].register_forward_hook(lambda module, args, out: seen.append(out.detach()))
        model[3].register_full_backward_hook(lambda module, inputs, outputs: (inputs[0] * 2,))
        model[3].register_full_backward_pre_hook(lambda module, outputs: seen.append(outputs[0]))
        model(tensor(device, 5, 4)).pow(2).sum().backward()
        return seen, [p.grad for p in model.parameters()]

    exact(program)


def test_saved_tensors_hooks():
    def program(device):
        x, packed = tensor(device, 4, 4, grad=True), []

        def pack(saved):
            packed.append(saved.clone())
            return saved.cpu()

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept.to(device)):
            y = (x.exp() @ x).sin()
        (first,) = torch.autograd.grad(y.sum(), x)
        with torch.autograd.graph.save_on_cpu(pin_memory=device != "cpu"):
            y = (x.exp() @ x).sin()
        return packed, first, torch.autograd.grad(y.sum(), x)

    exact(program)


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoint_under_autocast(reentrant):
    def program(device):
        model, x = small_model(device), tensor(device, 6, 4, grad=True)
        with torch.autocast(device, torch.bfloat16):
            y = checkpoint(model, x, use_reentrant=reentrant)
            z = checkpoint_sequential(model, 2, x, use_reentrant=reentrant)
        (y.float().pow(2).sum() + z.float().sin().sum()).backward()
        return y, z, x.grad, [p.grad for p in model.parameters()]

    exact(program)


@pytest.mark.parametrize("early", [True, False])
def test_selective_checkpoint(early):
    from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts, set_checkpoint_early_stop

    def policy(context, op, *args, **kwargs):
        return CheckpointPolicy.MUST_SAVE if op == torch.ops.aten.mm.default else CheckpointPolicy.PREFER_RECOMPUTE

    def program(device):
        x = tensor(device, 6, 6, grad=True)
        with set_checkpoint_early_stop(early):
            y = checkpoint(lambda v: (v.sin() @ v).cos() @ v, x, use_reentrant=False,
                           context_fn=lambda: create_selective_checkpoint_contexts(policy))
            return y, gradients(y, [x])

    exact(program)


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(context, x, factor):
        context.save_for_backward(x)
        context.factor = factor
        context.mark_non_differentiable(x)
        return x * factor, x.argmax()

    @staticmethod
    def backward(context, slope, _):
        (x,) = context.saved_tensors
        return slope * context.factor + x * 0, None


def test_a_function_of_ones_own():
    def program(device):
        x = tensor(device, 5, grad=True)
        y, place = Scaled.apply(x * 1, 3)
        return y, place, gradients(y, [x])

    exact(program)


def test_an_exception_in_backward_leaves_all_usable():
    x = torch.ones(4, device=DEVICE, requires_grad=True)

    def refuse(slope):
        raise ValueError("of the user")

    for _ in range(3):
        y = x * 2
        y.register_hook(refuse)
        with pytest.raises(ValueError, match="of the user"):
            y.sum().backward()
    assert x.grad is None
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2] * 4


def test_errors_of_the_graph():
    def twice(device):
        y = tensor(device, 3, grad=True).exp().sum()
        y.backward()
        y.backward()

    def leaf(device):
        tensor(device, 3, grad=True).add_(1)

    for program in twice, leaf:
        same_error(program)


def test_anomaly_mode_names_the_forward_call():
    def program(device):
        with torch.autograd.detect_anomaly(check_nan=True):
            x = torch.zeros(2, device=device, requires_grad=True)
            (x.sqrt() * 0).sum().backward()

    with pytest.warns(UserWarning, match="Anomaly|sqrt"):
        same_error(program)


def test_graphs_die_with_their_results():
    x = torch.ones(1000, device=DEVICE, requires_grad=True)
    gc.collect()
    torch.neuron.synchronize()
    before = torch.neuron.memory_allocated()
    y = x.exp().sin()
    assert torch.neuron.memory_allocated() > before
    del y
    torch.neuron.synchronize()
    assert torch.neuron.memory_allocated() == before


def test_backward_runs_on_the_calling_thread():
    seen = []
    x = torch.ones(3, device=DEVICE, requires_grad=True)
    y = x * 2
    y.register_hook(lambda slope: seen.append(threading.get_ident()))
    y.sum().backward()
    assert seen == [threading.get_ident()]


def test_backward_in_autograds_own_threads():
    def work(results, k):
        w = torch.full((8, 8), 0.1 * (k + 1), device=DEVICE, requires_grad=True)
        with torch.autograd.set_multithreading_enabled(True):
            (w @ w).tanh().sum().backward()
        results[k] = w.grad

    results = [None] * 3
    threads = [threading.Thread(target=work, args=(results, k)) for k in range(3)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    for k, got in enumerate(results):
        w = torch.full((8, 8), 0.1 * (k + 1), requires_grad=True)
        (w @ w).tanh().sum().backward()
        assert torch.equal(bits(got), bits(w.grad))


def test_inference_mode():
    def program(device):
        layer = nn.Linear(3, 3).to(device)
        with torch.inference_mode():
            x = layer(tensor(device, 2, 3))
            view = x[0].add_(1)
        assert x.is_inference() and view.is_inference()
        return x, F.relu(x.clone()).requires_grad_()

    exact(program)
    same_error(lambda device: refused_after_inference(device))


def refused_after_inference(device):
    with torch.inference_mode():
        x = torch.ones(2, device=device)
    (x * torch.ones(2, device=device, requires_grad=True)).sum().backward()
