"""Random numbers. For one seed the device draws the same numbers as the CPU, in program order."""
from collections.abc import Iterable

import torch

from adaptive_eager import _C
from adaptive_eager.device import NAME, index_of


def generator(device: torch.types.Device = None) -> torch.Generator:
    """The default generator of a device."""
    return _C.default_generator(index_of(device))


def default_generators() -> tuple[torch.Generator, ...]:
    """The default generators of all devices."""
    return tuple(_C.default_generator(index) for index in range(_C.device_count()))


def manual_seed(seed: int) -> None:
    """Seeds the current device's generator."""
    generator().manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seeds the generators of all devices; torch.manual_seed calls it."""
    for each in default_generators():
        each.manual_seed(int(seed))


def seed() -> int:
    """Seeds the current device's generator with a random number, and returns the number."""
    return generator().seed()


def seed_all() -> None:
    """Seeds the generators of all devices with one random number."""
    manual_seed_all(generator().seed())


def initial_seed() -> int:
    """The seed that the current device's generator started from."""
    return generator().initial_seed()


def get_rng_state(device: torch.types.Device = NAME) -> torch.Tensor:
    """The state of a device's generator, as bytes in a CPU tensor."""
    return generator(device).get_state()


def get_rng_state_all() -> list[torch.Tensor]:
    """The states of all devices' generators."""
    return [each.get_state() for each in default_generators()]


def set_rng_state(new_state: torch.Tensor, device: torch.types.Device = NAME) -> None:
    """Sets the state of a device's generator."""
    generator(device).set_state(new_state)


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    """Sets the states of all devices' generators."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)
