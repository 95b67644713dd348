"""A small program with state: embedding, layers, a random mask, two losses; trained by Adam or SGD, or evaluated."""
import copy

import torch
import torch.nn.functional as F
from torch import nn

VOCAB, WIDTH, CLASSES, LENGTH = 16, 24, 5, 6


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, WIDTH)
        self.inner = nn.Linear(WIDTH, 2 * WIDTH)
        self.norm = nn.LayerNorm(2 * WIDTH)
        self.batch_norm = nn.BatchNorm1d(LENGTH)
        self.outer = nn.Linear(2 * WIDTH, CLASSES)

    def forward(self, tokens, mask):
        x = self.embedding(tokens)
        x = self.norm(F.gelu(self.inner(x)) * mask)
        return self.outer(self.batch_norm(x).tanh().mean(1))


class Learner:
    """Model and optimizer on a device. Everything that an iteration draws depends on its number alone."""

    def __init__(self, device, seed):
        self.device = device
        torch.manual_seed(seed)
        self.model = Classifier().to(device)
        parameters = self.model.parameters()
        self.optimizer = torch.optim.SGD(parameters, 0.05, momentum=0.9) if seed % 2 else torch.optim.Adam(parameters)
        self.generator = torch.Generator(device)

    def state(self):
        """All tensors of the state, by name."""
        tensors = dict(self.model.state_dict())
        for i, state in self.optimizer.state_dict()["state"].items():
            tensors |= {f"{i} {name}": value for name, value in state.items() if isinstance(value, torch.Tensor)}
        return tensors

    def load(self, other):
        """Takes over another learner's state, into the tensors that are there."""
        self.model.load_state_dict(other.model.state_dict())
        self.optimizer.load_state_dict(copy.deepcopy(other.optimizer.state_dict()))

    def inputs(self, number):
        draw = torch.Generator().manual_seed(number)
        rows = int(torch.randint(1, 5, (), generator=draw)) * 2
        tokens = torch.randint(0, VOCAB, (rows, LENGTH), generator=draw)
        classes = torch.randint(0, CLASSES, (rows,), generator=draw)
        return tokens.to(self.device), classes.to(self.device)

    def mask(self, number, rows):
        self.generator.manual_seed(number)
        ones = torch.empty(rows, LENGTH, 2 * WIDTH, device=self.device)
        return ones.bernoulli_(0.9, generator=self.generator)

    def train(self, number, between=lambda place: None):
        """One step; gives the loss. Calls between(place) at some places, where a user's code may do what it likes."""
        self.model.train()
        tokens, classes = self.inputs(number)
        self.optimizer.zero_grad()
        out = self.model(tokens, self.mask(number, len(tokens)))
        between("after forward")
        loss = F.cross_entropy(out, classes) + out.pow(2).mean() * 1e-3
        loss.backward()
        between("after backward")
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        between("after step")
        return [loss.detach()]

    def evaluate(self, number, between=lambda place: None):
        """Predictions, and how many are right."""
        self.model.eval()
        tokens, classes = self.inputs(number)
        with torch.no_grad():
            out = self.model(tokens, torch.ones((), device=self.device))
            between("after forward")
            best = out.argmax(-1)
            chosen = out[best == classes]
        return [out, best, (best == classes).sum(), chosen]
