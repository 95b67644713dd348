"""The fuzzer's own tests, and a fixed number of its programs."""
import subprocess
import sys

import pytest
import torch

from fuzz import campaign, check, compare, generate, program, runtime, script, shrink

PROGRAMS = 45  # a batch
CONFIGURATIONS = {
    "op by op": {"TORCH_NEURON_ADAPTIVE_EAGER": "0"},
    "adaptive": {"TORCH_NEURON_ADAPTIVE_EAGER": "1"},
    "adaptive, short segments, late launches": {
        "TORCH_NEURON_ADAPTIVE_EAGER": "1", "TORCH_NEURON_MAX_SEGMENT_OPS": "5", "TORCH_NEURON_EMULATOR_SEED": "7",
        "TORCH_NEURON_EMULATOR_DELAY_US": "50", "TORCH_NEURON_EMULATOR_REFUSALS": "0.05",
        "TORCH_NEURON_DEVICE_WAITS": "0"},
    "verified": {"TORCH_NEURON_ADAPTIVE_EAGER": "1", "TORCH_NEURON_VERIFY": "3"},
}
QUIET = {"environment": {}, "rate": 0.0, "threads": 1}


def calls(candidate):
    return [one for one in program.walk(candidate["statements"]) if one["do"] == "call"]


def call(fn, *args, **more):
    return {"do": "call", "fn": fn, "args": list(args), **more}


@pytest.mark.parametrize("number, name", list(enumerate(CONFIGURATIONS)))
def test_random_programs_behave_as_on_the_cpu(number, name):
    configuration = {"environment": CONFIGURATIONS[name], "rate": 0.1 * (number % 2), "threads": 1}
    order = {"first": PROGRAMS * number, "count": PROGRAMS, "seconds": 30.0}
    batch = campaign.Batch(configuration, order)
    if batch.finding:
        pytest.fail(f"{batch.finding.get('found')}\n{campaign.report(batch.finding, configuration)[-3000:]}")
    assert len(batch.results) == PROGRAMS
    assert list(batch.results.values()).count("same") > 0.9 * PROGRAMS


def test_a_seed_gives_the_same_program_each_time():
    for seed in range(8):
        assert generate.generate(seed) == generate.generate(seed)


def test_a_program_survives_json():
    for seed in range(8):
        written = generate.generate(seed)
        read = program.loads(program.dumps(written))
        assert read == written and program.source(read) == program.source(written)


def test_one_program_in_four_has_threads_or_streams():
    for seed in range(0, 40, 4):
        kinds = {one["do"] for one in program.walk(generate.generate(seed)["statements"])}
        assert kinds & {"threads", "stream"}


@pytest.mark.parametrize("wrong", [
    pytest.param(lambda x: x.relu() * torch.where(x < 0, -1.0, 1.0), id="another zero"),
    pytest.param(lambda x: x.relu().contiguous(), id="another layout"),
    pytest.param(lambda x: x.relu().view(-1), id="another error"),
])
def test_a_planted_difference_is_found_and_made_small(monkeypatch, wrong):
    relu = torch.relu
    monkeypatch.setattr(torch, "relu", lambda x: relu(x) if x.device.type == "cpu" else wrong(x))
    planted = generate.generate(1)
    host = {"py": "make('normal', (4, 3), torch.float32, 1, 'turned')"}
    made = call(".to", host, {"py": "device"}, to="x", kw={"copy": True})
    planted["statements"] = [made, *planted["statements"], call("torch.relu", {"v": "x"}, to="y"),
                             call("torch.exp", {"v": "y"}, to="z"), call(".view", {"v": "y"}, {"t": [4, 3]})]
    found = check.check(planted)
    assert isinstance(found, tuple)
    small = shrink.shrink(planted, lambda one: isinstance(check.check(one), tuple), seconds=60.0)
    assert len(calls(small)) <= 3
    assert isinstance(check.check(small), tuple)


def test_memory_that_nobody_wrote_makes_a_program_undefined():
    empty = {"statements": [call("torch.empty", 20000, kw={"device": {"py": "device"}}, to="x")]}
    assert check.check(empty) == "undefined"


def test_bits_are_compared():
    zeros = [("0", "content", torch.tensor([sign])) for sign in (0.0, -0.0)]
    assert compare.first_difference(zeros[:1], zeros[:1]) is None
    assert compare.first_difference(zeros[:1], zeros[1:]) == ("0", "content", "tensor([0.])", "tensor([-0.])")
    nans = [torch.tensor([one]).to(torch.int32).view(torch.float32) for one in (0x7FC00000, 0x7FC00001)]
    assert compare.first_difference(*[[("0", "content", runtime.content(one))] for one in nans]) is None


def test_a_crash_is_a_finding():
    crashing = {"seed": 5, "statements": [call("__import__('os')._exit", 3)]}
    batch = campaign.Batch(QUIET, {"program": crashing, "seconds": 1})
    assert batch.finding["seed"] == 5 and "exit code 3" in batch.finding["crash"]


def test_a_script_stands_alone(tmp_path):
    file = tmp_path / "script.py"
    file.write_text(script.script(generate.generate(4), ("0", "value", "1", "2"), {}))
    child = subprocess.run([sys.executable, "-B", str(file)], cwd="/", text=True, capture_output=True, timeout=120)
    assert child.stdout.strip() == "no difference", child.stderr
