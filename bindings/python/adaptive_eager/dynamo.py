"""torch.compile(backend="neuron"): the captured graph runs as it is. The engine finds and fuses segments by itself.

Loaded at the first use only, through torch.compile or the entry point `torch_dynamo_backends`.
"""
from collections.abc import Callable
from typing import Any

import torch
from torch._dynamo.backends import registry

from adaptive_eager.device import NAME


def neuron(graph: torch.fx.GraphModule, example_inputs: list[torch.Tensor], **options: Any) -> Callable[..., Any]:
    """Runs the graph op by op on its tensors' device, with the bits of the uncompiled program. No option matters."""
    return graph.forward


def register() -> None:
    """Registers the backend, once."""
    if registry._COMPILER_FNS.get(NAME) is None:
        registry.register_backend(neuron, name=NAME)
