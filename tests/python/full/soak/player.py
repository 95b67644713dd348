"""One thread of the soak: iterations on the device beside the same on CPU, with faults of several kinds in between.

A fault is a launch or an allocation that the emulator fails, too large a request, an index out of range, or an
exception of the user's own code. Whatever an iteration raised, the state is loaded again from the CPU, as from a
checkpoint. An iteration that raised nothing must have the CPU's bits in results and in state.
"""
import collections
import random

import torch

from soak.steps import VOCAB, Learner


class UserError(Exception):
    """Raised by the user's code in the middle of an iteration."""


def bits(tensor):
    tensor = tensor.detach().cpu().contiguous().reshape(-1)
    return torch.where(tensor.isnan(), torch.nan, tensor).view(torch.uint8) if tensor.is_floating_point() else tensor


def too_large(device):
    torch.empty(4 * torch.neuron.mem_get_info()[1], dtype=torch.uint8, device=device)


def out_of_range(device):
    torch.nn.functional.embedding(torch.full((2,), VOCAB + 7, device=device), torch.ones(VOCAB, 2, device=device))


class Player:
    def __init__(self, seed, iterations, share):
        self.seed, self.iterations = seed, iterations
        self.share = share  # of iterations in which the user's code makes a fault
        self.random = random.Random(seed)
        self.counts = collections.Counter()
        self.differences = []
        self.progress = 0
        self.error = None

    def run(self):
        """The thread's function."""
        try:
            torch.neuron.set_stream(torch.neuron.Stream())  # a failure is told to who waits for its stream
            self.reference = Learner("cpu", self.seed)
            self.learner = self.until_it_works(self.fresh)
            for number in range(self.iterations):
                self.play(number)
                self.progress += 1
        except BaseException as error:  # told by the main thread
            self.error = error
        finally:
            self.learner = self.reference = None

    def fresh(self):
        learner = Learner("neuron", self.seed)
        learner.load(self.reference)
        return learner

    def reloaded(self):
        self.learner.load(self.reference)
        return self.learner

    def until_it_works(self, make):
        """Calls make() until neither it nor the work that it started fails."""
        while True:
            try:
                made = make()
                torch.neuron.current_stream().synchronize()
                return made
            except Exception as error:
                self.note(error)

    def note(self, error):
        text = "injected" if "emulated" in str(error) else ""
        self.counts[f"{text} {type(error).__name__}".strip()] += 1

    def trouble(self):
        """What the user's code does in the middle of an iteration; and whether the iteration goes on after it."""
        kind = self.random.choice(["user", "memory", "memory and on", "index"])
        place = self.random.choice(["after forward", "after backward", "after step"])

        def between(here):
            if here != place:
                return
            if kind == "user":
                raise UserError
            if kind == "index":
                return out_of_range(self.learner.device)
            try:
                too_large(self.learner.device)
            except torch.OutOfMemoryError as error:
                self.note(error)
                if kind == "memory":
                    raise

        return between

    def play(self, number):
        name = "train" if self.random.random() < 0.7 else "evaluate"
        options = [self.trouble()] if self.random.random() < self.share else []
        try:
            results = getattr(self.learner, name)(number, *options)
            got = [bits(t) for t in results] + [bits(t) for t in self.learner.state().values()]
            torch.neuron.current_stream().synchronize()
        except Exception as error:
            self.note(error)
            self.counts["recovered"] += 1
            self.learner = self.until_it_works(self.random.choice([self.fresh, self.reloaded]))
            return
        results = getattr(self.reference, name)(number)
        state = self.reference.state()
        want = [bits(t) for t in results] + [bits(t) for t in state.values()]
        self.counts[name] += 1
        names = [f"result {i}" for i in range(len(results))] + list(state)
        wrong = [which for which, a, b in zip(names, got, want, strict=True) if not torch.equal(a, b)]
        if wrong:
            self.differences.append(f"iteration {number}, {name}: {', '.join(wrong)}")
            self.learner = self.until_it_works(self.fresh)
