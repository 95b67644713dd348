"""Under what a worker runs its programs: environment variables are read once, so one configuration a process."""
import random

# Compute threads that spin would keep each other waiting on a machine with few cores.
OFF = {"TORCH_NEURON_LOG": "error", "OMP_WAIT_POLICY": "passive"}


def configuration(seed):
    """Environment, rate of random waits and cuts, and threads of a worker, from a seed."""
    choose = random.Random(seed).choice
    environment = {**OFF, "TORCH_NEURON_ADAPTIVE_EAGER": choose(["0", "1", "1"])}
    if environment["TORCH_NEURON_ADAPTIVE_EAGER"] == "1":
        environment["TORCH_NEURON_MAX_SEGMENT_OPS"] = choose(["2", "3", "5", "8", "16", "64", "256", "256"])
    environment["TORCH_NEURON_DEVICE_WAITS"] = choose(["0", "1", "1"])
    environment["TORCH_NEURON_VERIFY"] = choose(["0", "0", "0", "0", "1", "7"])
    environment["TORCH_NEURON_LAUNCH_COST_US"] = choose(["0", "0", "10"])
    if choose([True, True, False]):
        environment["TORCH_NEURON_EMULATOR_SEED"] = str(seed + 1)
        environment["TORCH_NEURON_EMULATOR_DELAY_US"] = choose(["0", "10", "50"])
        environment["TORCH_NEURON_EMULATOR_REFUSALS"] = choose(["0", "0.05"])
    threads = choose([1, 1, 1, 1, 1, 1, 1, 2])
    return {"environment": environment, "rate": choose([0.0, 0.0, 0.05, 0.3]), "threads": threads}
