"""Threads and streams of programs. Copied into stand-alone scripts, like `runtime`."""
import contextlib
import sys
import threading

import torch

from fuzz.runtime import DEVICE, Log, describe_error

STREAMS = {}


@contextlib.contextmanager
def side_stream(device, index, order):
    """Runs a block on another stream, after what was before it and before what comes after it."""
    if device != DEVICE:
        yield
        return
    side, here = STREAMS.setdefault(index, torch.neuron.Stream()), torch.neuron.current_stream()

    def after(first, then):
        if order == "event":
            then.wait_event(first.record_event())
        else:
            then.wait_stream(first)

    after(here, side)
    try:
        with torch.neuron.stream(side):
            yield
    finally:
        after(side, here)


class Turns:
    """Threads that take turns, statement by statement, in a fixed order; their streams hand over by events."""

    def __init__(self, count, handover):
        self.changed, self.waiting = threading.Condition(), list(range(count))
        self.handover, self.event = handover, None

    def begin(self, number):
        with self.changed:
            self.changed.wait_for(lambda: self.waiting[0] == number)
        if self.event:
            torch.neuron.current_stream().wait_event(self.event)

    def end(self, leave=False):
        if self.handover:
            self.event = torch.neuron.current_stream().record_event()
        with self.changed:
            number = self.waiting.pop(0)
            self.waiting += [] if leave else [number]
            self.changed.notify_all()


class Turn:
    """The turn of one thread; is entered again and again."""

    def __init__(self, turns, number):
        self.turns, self.number = turns, number

    def __enter__(self):
        self.turns.begin(self.number)

    def __exit__(self, *exception):
        self.turns.end()

    def leave(self):
        self.turns.begin(self.number)
        self.turns.end(leave=True)


def run_threads(log, place, functions, turns, streams):
    """Runs functions in threads: each statement in its turn, or all at once where nothing seen depends on the order."""
    order = Turns(len(functions), streams and log.device == DEVICE)
    mine = [Turn(order, number) if turns else None for number in range(len(functions))]
    logs = [Log(log.device, log.disturb, one, racy=not turns) for one in mine]

    def work(number):
        with side_stream(log.device, f"thread {number}", "stream") if streams else contextlib.nullcontext():
            try:
                functions[number](logs[number])
            except Exception as error:
                logs[number].add("error", describe_error(error))
            finally:
                if turns:
                    mine[number].leave()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(functions))]
    interval = sys.getswitchinterval()
    # By default a thread has time for a whole body; much shorter, and a busy machine does nothing but switch.
    sys.setswitchinterval(interval if turns else 5e-4)
    [one.start() for one in threads]
    [one.join() for one in threads]
    sys.setswitchinterval(interval)
    for one in logs:
        log.entries += one.entries
