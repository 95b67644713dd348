"""Starts workers, one after the other, each under another configuration; gathers what they find."""
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import adaptive_eager

from fuzz import configs, generate, script, shrink

TESTS = Path(__file__).parent.parent
PACKAGE = Path(adaptive_eager.__file__).parent.parent


def start(configuration, order):
    """A worker process; its lines come from its output."""
    environment = {**os.environ, **configuration["environment"], "OMP_NUM_THREADS": str(configuration["threads"]),
                   "PYTHONPATH": os.pathsep.join([str(PACKAGE), str(TESTS)]), "PYTHONDONTWRITEBYTECODE": "1"}
    order = {**order, "rate": configuration["rate"], "threads": configuration["threads"]}
    command = [sys.executable, "-m", "fuzz.worker", json.dumps(order)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=environment, cwd="/", text=True, **pipes)


class Batch:
    """What one worker did."""

    def __init__(self, configuration, order):
        self.configuration, self.results, self.finding, self.last, self.open = configuration, {}, None, None, None
        worker = start(configuration, order)
        try:
            output, self.errors = worker.communicate()
        except BaseException:
            worker.kill()
            raise
        for line in output.splitlines():
            self.take(json.loads(line)) if line.startswith("{") else None
        if worker.returncode:
            text = self.errors.strip()
            text = text if len(text) < 6000 else text[:4000] + "\n…\n" + text[-2000:]
            crash = f"exit code {worker.returncode}\n{text}"
            self.finding = {"seed": self.open, "crash": crash, **(self.finding or {})}

    def take(self, said):
        if "begin" in said:
            self.open = said["begin"]
        elif "end" in said:
            self.results[said["end"]], self.last = said["result"], said["end"]
        else:
            self.finding = {"seed": said["difference"], **said}
            self.last = said["difference"]


def report(finding, configuration):
    """The text of a stand-alone script for a finding, or what is known of a crash."""
    if "program" not in finding:
        return f"# seed {finding['seed']} under {json.dumps(configuration)}: {finding['crash']}\n"
    small = finding.get("small", finding["program"])
    return script.script(small, finding["found"], **configuration)


def program_of_crash(finding, configuration, seconds):
    """A crash ends its process, so every candidate has one of its own; a program that needs company stays as it is."""
    program = finding.get("program") or generate.generate(finding["seed"])

    def crashes(candidate):
        return "crash" in (Batch(configuration, {"program": candidate, "seconds": 0}).finding or {})

    small = shrink.shrink(program, crashes, seconds) if crashes(program) else program
    found = ["?", "crash", "", finding["crash"].replace("\n", "\n#   ")]
    return {**finding, "program": program, "small": small, "found": found}


def campaign(first, minutes, folder, size=150, seconds=25.0):
    """Runs batches until the time is over; writes findings into a folder. Gives counts of results and the findings."""
    end, counts, findings, seed = time.monotonic() + 60 * minutes, {}, [], first
    folder.mkdir(parents=True, exist_ok=True)
    while time.monotonic() < end:
        configuration = configs.configuration(seed)
        order = {"first": seed, "count": size, "seconds": seconds, "until": end - time.monotonic()}
        batch = Batch(configuration, order)
        for result in batch.results.values():
            counts[result] = counts.get(result, 0) + 1
        if batch.finding:
            if "crash" in batch.finding and batch.finding["seed"] is not None:
                batch.finding = program_of_crash(batch.finding, configuration, 2 * seconds)
            findings.append(batch.finding)
            name = folder / f"seed-{batch.finding['seed']}"
            name.with_suffix(".py").write_text(report(batch.finding, configuration))
            name.with_suffix(".json").write_text(json.dumps({**batch.finding, "configuration": configuration}))
            print(f"difference: {name}.py", flush=True)
        print(f"seeds {seed} to {batch.open}, {configuration}: {counts}", flush=True)
        seed = max(batch.open if batch.open is not None else seed, seed) + 1
    return counts, findings
