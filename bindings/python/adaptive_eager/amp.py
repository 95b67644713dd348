"""Mixed precision. `torch.autocast("neuron", dtype)` and `torch.amp.GradScaler("neuron")` work as for any device."""
import torch


def get_amp_supported_dtype() -> list[torch.dtype]:
    """The dtypes that autocast may choose; torch.autocast asks for them."""
    return [torch.bfloat16, torch.float16]


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the device computes in bfloat16: it does."""
    return True
