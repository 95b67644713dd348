"""Builds a model and takes it through forward, loss, backward, one AdamW step and, for decoders, generation."""
import copy
import importlib

import torch

STAGES = ("forward", "loss", "backward", "step", "generate")
LEARNING_RATE = 1e-3
NEW_TOKENS = 8


def model_of(entry, attention):
    library = importlib.import_module(entry.library)
    model_class = getattr(library, entry.model)
    if entry.library == "diffusers":
        return model_class(**entry.config)
    config = entry.config() if callable(entry.config) else getattr(library, entry.config[0])(**entry.config[1])
    if attention:
        config._attn_implementation = attention
    return model_class(config)


def build(entry, dtype, attention):
    """A model with random weights on CPU, and inputs for it."""
    torch.manual_seed(0)
    model = model_of(entry, attention)
    if dtype != torch.float32:
        model.to(dtype)
    model.eval()
    for module in model.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
            module.train()
    torch.manual_seed(1)
    inputs = entry.inputs()
    return model, {k: v.to(dtype) if torch.is_tensor(v) and v.is_floating_point() else v for k, v in inputs.items()}


def tensors(output):
    """The tensors of a model's output, in order."""
    if isinstance(output, torch.Tensor):
        return [output]
    if isinstance(output, dict):
        output = output.values()
    elif not isinstance(output, (list, tuple)):
        return []
    return [t for part in output for t in tensors(part)]


def seen(tensors):
    """The metadata of tensors, and their values on CPU."""
    return [((t.dtype, tuple(t.shape), t.stride()), t.detach().cpu()) for t in tensors]


def loss_of(output):
    loss = getattr(output, "loss", None)
    if loss is None:
        loss = sum(t.float().pow(2).mean() for t in tensors(output) if t.requires_grad)
    return loss


def generated(model, inputs):
    model.eval()
    prompt = {k: v for k, v in inputs.items() if "labels" not in k}
    return model.generate(**prompt, max_new_tokens=NEW_TOKENS, min_new_tokens=NEW_TOKENS, do_sample=False, num_beams=1)


def run(entry, model, inputs, device):
    """What each stage gave; a stage that raises ends the run with its error."""
    results = {}
    stage = "forward"
    try:
        model = copy.deepcopy(model).to(device)
        inputs = {k: v.to(device) if torch.is_tensor(v) else v for k, v in inputs.items()}
        torch.manual_seed(2)
        output = model(**inputs)
        results[stage] = seen(tensors(output))
        results["parameters"] = sorted(name for name, _ in model.named_parameters())  # ties stay ties

        stage = "loss"
        loss = loss_of(output)
        results[stage] = seen([loss])

        stage = "backward"
        loss.backward()
        results[stage] = seen(p.grad for p in model.parameters() if p.grad is not None)

        stage = "step"
        torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, foreach=False).step()
        results[stage] = seen([*model.parameters(), *model.buffers()])

        if entry.generates:
            stage = "generate"
            results[stage] = seen([generated(model, inputs)])
    except Exception as error:
        results[stage] = error
    return results
