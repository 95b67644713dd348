"""Hands units to worker processes and outlives their crashes."""
import json
import os
import queue
import select
import subprocess
import sys
import threading

START_TIMEOUT = 300  # seconds


class Child:
    """A worker process."""

    def __init__(self, settings):
        command = [sys.executable, "-W", "ignore", os.path.abspath(sys.argv[0]), "--worker", *sys.argv[1:]]
        env = dict(os.environ, TORCH_CPP_LOG_LEVEL="ERROR", OMP_NUM_THREADS=str(settings.threads))
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        self.names = self.answer(START_TIMEOUT)
        if self.names is None:
            raise SystemExit("a worker does not start")

    def ask(self, index, timeout):
        """The answer of a unit, or None if the worker died or hangs."""
        try:
            self.process.stdin.write(f"{index}\n".encode())
            self.process.stdin.flush()
            return self.answer(timeout)
        except OSError:
            return None

    def answer(self, timeout):
        ready, _, _ = select.select([self.process.stdout], [], [], timeout)
        line = self.process.stdout.readline() if ready else b""
        return json.loads(line) if line.endswith(b"\n") else None

    def epitaph(self, timeout):
        try:
            return f"exit code {self.process.wait(1)}"
        except subprocess.TimeoutExpired:
            self.end()
            return f"no answer in {timeout:g} s"

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def crashed(detail):
    """The answer in place of one that a worker did not give."""
    finding = {"mode": "all", "sample": 0, "category": "crashed", "detail": detail, "ulps": None, "abs": None}
    return {"counts": [["forward", "crashed", 1]], "reasons": {}, "fallbacks": None, "findings": [finding]}


def run_all(settings):
    """The answers of all units by their names, in the order of the list."""
    todo, done = queue.Queue(), {}
    first = Child(settings)
    names = first.names
    for index in range(len(names)):
        todo.put(index)

    def serve(child):
        while True:
            try:
                index = todo.get_nowait()
            except queue.Empty:
                return child and child.end()
            child = child or Child(settings)
            answer = child.ask(index, settings.timeout)
            if answer is None:
                answer = crashed(child.epitaph(settings.timeout))
                child = None
            done[index] = answer
            if sys.stderr.isatty():
                print(f"\r{len(done)}/{len(names)} {names[index]:60.60}", end="", file=sys.stderr)

    threads = [threading.Thread(target=serve, args=(None if i else first,)) for i in range(settings.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {names[index]: done[index] for index in sorted(done)}
