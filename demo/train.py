"""Trains one task on one device and keeps everything that can be compared."""
import time
from dataclasses import dataclass

import torch
from torch import Tensor

from progress import Progress
from tasks import Entry, Task, loss_of

SEED = 2024
WARM_UP = 10  # first steps that the clock leaves out, on every device
READ_EVERY = 10  # steps between two looks at the loss; in between, nobody waits for the device


@dataclass
class Run:
    """A finished training."""

    device: str
    losses: Tensor  # of every step, on the CPU
    state: dict[str, Tensor]  # parameters and buffers of the model, state of the optimizer, score; on the CPU
    score: float
    parameters: int
    steps_per_second: float
    peak_bytes: int  # of device memory; 0 on the CPU
    counters: dict[str, int]  # of the device, for the training alone; empty on the CPU


def train(entry: Entry, device: str, steps: int) -> Run:
    """Trains from the seed. The two seedings make the CPU's and the device's random numbers start at one place."""
    torch.manual_seed(SEED)
    task = entry.make(device, steps)
    torch.manual_seed(SEED + 1)
    batches = torch.Generator().manual_seed(SEED + 2)
    before = start_counting(device)
    losses = []
    warm_up = min(WARM_UP, steps // 2)
    with Progress(f"{entry.title:13} {device:6}", steps) as progress:
        for step in range(steps):
            if step == warm_up:
                synchronize(device)
                started = time.perf_counter()
            losses.append(train_step(task, batches))
            if (step + 1) % READ_EVERY == 0 or step + 1 == steps:
                progress.show(step + 1, f"loss {losses[-1].item():.4f}")
        synchronize(device)
        seconds = time.perf_counter() - started
    counters = counted(before)
    peak = torch.neuron.max_memory_allocated(device) if is_neuron(device) else 0
    task.model.eval()
    with torch.no_grad():
        score = task.score().cpu()
    state = {**everything(task.model.state_dict()), **everything(task.optimizer.state_dict()), "score": score}
    parameters = sum(parameter.numel() for parameter in task.model.parameters())
    losses = torch.stack(losses).cpu()
    return Run(device, losses, state, score.item(), parameters, (steps - warm_up) / seconds, peak, counters)


def train_step(task: Task, batches: torch.Generator) -> Tensor:
    """An ordinary step; the loss stays on the device."""
    loss = loss_of(task.model, *task.batch(batches))
    task.optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(task.model.parameters(), 1.0)
    task.optimizer.step()
    task.schedule.step()
    return loss.detach()


def everything(tree: object, name: str = "") -> dict[str, Tensor]:
    """All tensors of a nested state by name, as copies on the CPU."""
    if isinstance(tree, Tensor):
        return {name: tree.detach().cpu().clone()}
    if isinstance(tree, dict):
        items = tree.items()
    elif isinstance(tree, (list, tuple)):
        items = enumerate(tree)
    else:
        return {}
    return {key: value for part, item in items for key, value in everything(item, f"{name}.{part}").items()}


def is_neuron(device: str) -> bool:
    """Whether the device has counters and work to wait for; the CPU has neither."""
    return torch.device(device).type == "neuron"


def synchronize(device: str) -> None:
    """Waits for the device."""
    if is_neuron(device):
        torch.neuron.synchronize(device)


def start_counting(device: str) -> dict[str, int]:
    """The counters now; the peak of memory starts afresh."""
    if not is_neuron(device):
        return {}
    synchronize(device)
    torch.neuron.reset_peak_memory_stats(device)
    return torch.neuron.metrics()


def counted(before: dict[str, int]) -> dict[str, int]:
    """What the counters grew by."""
    return {name: value - before[name] for name, value in torch.neuron.metrics().items()} if before else {}
