"""Random numbers: generators of one's own, their states, forks of them, and the order of draws."""
import pytest
import torch
import torch.nn.functional as F

from programs import exact, tensor
from surface import DEVICE


def test_a_generator_of_ones_own():
    def program(device):
        generator = torch.Generator(device).manual_seed(5)
        first = torch.rand(4, generator=generator, device=device)
        state = generator.get_state()
        rest = [
            torch.randn(3, generator=generator, device=device),
            torch.randint(0, 9, (5,), generator=generator, device=device),
            torch.randperm(6, generator=generator, device=device),
            torch.empty(4, device=device).uniform_(-1, 1, generator=generator),
            torch.bernoulli(torch.full((5,), 0.4, device=device), generator=generator),
            torch.multinomial(torch.ones(6, device=device), 2, generator=generator),
            torch.normal(0.0, 2.0, (3,), generator=generator, device=device),
        ]
        generator.set_state(state)
        again = torch.randn(3, generator=generator, device=device)
        return first, rest, again, generator.initial_seed()

    exact(program)


def test_states_are_those_of_the_cpu():
    generator, host = torch.Generator(DEVICE).manual_seed(3), torch.Generator().manual_seed(3)
    assert torch.equal(torch.rand(7, generator=generator, device=DEVICE).cpu(), torch.rand(7, generator=host))
    assert torch.equal(generator.get_state(), host.get_state())
    generator.set_state(torch.Generator().manual_seed(9).get_state())
    host.manual_seed(9)
    assert torch.rand(1, generator=generator, device=DEVICE).item() == torch.rand(1, generator=host).item()
    clone = generator.clone_state()
    assert torch.equal(torch.rand(3, generator=clone, device=DEVICE), torch.rand(3, generator=generator, device=DEVICE))
    assert generator.device.type == DEVICE


def test_a_generator_of_another_device_is_refused():
    with pytest.raises(RuntimeError, match="device"):
        torch.rand(2, generator=torch.Generator(), device=DEVICE)
    with pytest.raises(RuntimeError, match="device"):
        torch.rand(2, generator=torch.Generator(DEVICE))


def test_fork_rng():
    torch.manual_seed(1)
    expected = torch.rand(3, device=DEVICE), torch.rand(3)
    torch.manual_seed(1)
    with torch.random.fork_rng(device_type=DEVICE):
        torch.manual_seed(2)
        inside = torch.rand(3, device=DEVICE)
    assert torch.equal(torch.rand(3, device=DEVICE), expected[0]) and torch.equal(torch.rand(3), expected[1])
    assert not torch.equal(inside, expected[0])
    torch.manual_seed(1)
    with torch.random.fork_rng(device_type=DEVICE, enabled=False):
        torch.rand(3, device=DEVICE)
    assert not torch.equal(torch.rand(3, device=DEVICE), expected[0])


def test_seeds_and_states_of_the_device():
    torch.manual_seed(42)
    assert torch.neuron.initial_seed() == torch.initial_seed() == 42
    before = torch.neuron.get_rng_state()
    torch.rand(10)  # the CPU's generator is another one
    assert torch.equal(torch.neuron.get_rng_state(), before)
    torch.rand(10, device=DEVICE)
    assert not torch.equal(torch.neuron.get_rng_state(), before)
    torch.neuron.set_rng_state(before, DEVICE)
    assert torch.equal(torch.neuron.get_rng_state(f"{DEVICE}:0"), before)


def test_a_state_is_that_of_the_calls_made_so_far():
    torch.manual_seed(0)
    for _ in range(30):
        torch.rand(100, device=DEVICE)
    state = torch.neuron.get_rng_state()  # of all draws above, done or not
    after = torch.rand(5, device=DEVICE)
    torch.neuron.set_rng_state(state)
    assert torch.equal(torch.rand(5, device=DEVICE), after)


DRAWS = {
    "cauchy": lambda x: x.cauchy_(),
    "exponential": lambda x: x.exponential_(),
    "geometric": lambda x: x.geometric_(0.3),
    "log_normal": lambda x: x.log_normal_(),
    "random": lambda x: x.random_(0, 100),
    "poisson": lambda x: torch.poisson(x.abs()),
    "binomial": lambda x: torch.binomial(x.abs().ceil() + 3, torch.full_like(x, 0.3)),
    "gamma": lambda x: torch._standard_gamma(x.abs() + 1),
    "dirichlet": lambda x: torch._sample_dirichlet(x.abs() + 1),
    "rrelu": lambda x: F.rrelu(x, training=True),
    "fractional pool": lambda x: F.fractional_max_pool2d(x[None, None], 2, output_size=2),
    "gumbel": lambda x: F.gumbel_softmax(x),
    "rand_like": lambda x: torch.rand_like(x, dtype=torch.float64),
    "distribution": lambda x: torch.distributions.Beta(x.abs() + 1, x.abs() + 2).sample((2,)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws(name):
    def program(device):
        x = tensor(device, 5, 6)
        torch.manual_seed(3)
        return [DRAWS[name](x) for _ in range(3)]

    exact(program)
