"""The three tasks: a model, its data, its optimizer and its score."""
import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from data import Digits, Text
from models import CNN, GPT, LSTM

LENGTH = 64  # characters that the GPT sees


@dataclass
class Task:
    """What the trainer needs. Nothing in it depends on the device but the place of its data."""

    model: nn.Module
    optimizer: torch.optim.Optimizer
    schedule: torch.optim.lr_scheduler.LRScheduler
    batch: Callable[[torch.Generator], tuple[Tensor, Tensor]]
    score: Callable[[], Tensor]  # on data that the training never saw


def loss_of(model: nn.Module, inputs: Tensor, targets: Tensor) -> Tensor:
    """Cross entropy, of pictures and of characters alike."""
    return F.cross_entropy(model(inputs).flatten(0, -2), targets.flatten())


def cnn(device: str, steps: int) -> Task:
    """Digits by convolution; SGD with momentum."""
    model = CNN().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    return _digits(model, optimizer, device, steps)


def lstm(device: str, steps: int) -> Task:
    """Digits row by row; Adam."""
    model = LSTM().to(device)
    return _digits(model, torch.optim.Adam(model.parameters(), lr=5e-3), device, steps)


def gpt(device: str, steps: int) -> Task:
    """The next character; AdamW with warm-up."""
    text = Text(device)
    model = GPT(len(text.alphabet), LENGTH).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.95), weight_decay=0.1)

    def score() -> Tensor:
        return loss_of(model, *text.test_batch(32, LENGTH)) / math.log(2)

    return Task(model, optimizer, _cosine(optimizer, steps), lambda generator: text.batch(16, LENGTH, generator), score)


def _digits(model: nn.Module, optimizer: torch.optim.Optimizer, device: str, steps: int) -> Task:
    digits = Digits(device)

    def score() -> Tensor:
        pictures, labels = digits.test
        return (model(pictures).argmax(1) == labels).float().mean() * 100

    return Task(model, optimizer, _cosine(optimizer, steps), lambda generator: digits.batch(64, generator), score)


def _cosine(optimizer: torch.optim.Optimizer, steps: int) -> torch.optim.lr_scheduler.LRScheduler:
    """A learning rate that rises for a tenth of the steps and falls along a cosine."""
    rise = max(1, steps // 10)

    def factor(step: int) -> float:
        return min((step + 1) / rise, 0.5 * (1 + math.cos(math.pi * step / steps)) + 0.02)

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


@dataclass(frozen=True)
class Entry:
    """A row of the demo."""

    title: str
    make: Callable[[str, int], Task]
    steps: int
    quick_steps: int
    score: str  # what the score is


TASKS = {
    "cnn": Entry("CNN, digits", cnn, 300, 60, "% right"),
    "lstm": Entry("LSTM, digits", lstm, 400, 60, "% right"),
    "gpt": Entry("GPT, text", gpt, 250, 30, "bits/char"),
}
