"""Fork, exit, and other processes."""
import torch
from torch.utils.data import DataLoader, TensorDataset

from surface import DEVICE, python

FORK = """
import os, sys, torch
x = torch.ones(3, device="neuron") + 1
if os.fork() == 0:
    torch.manual_seed(1), torch.set_num_threads(1), torch.ones(3) + 1       # the CPU works
    for use in (lambda: torch.ones(1, device="neuron")), x.sum, x.tolist, torch.neuron._lazy_init:
        try:
            use()
        except RuntimeError as error:
            assert "Cannot re-initialize neuron in forked subprocess" in str(error) and "spawn" in str(error)
        else:
            os._exit(1)
    assert torch.neuron._is_in_bad_fork() and not torch.neuron.is_initialized()
    sys.exit(0)
_, status = os.wait()
print(status, (x + 1).tolist())
"""

EXIT = """
import threading, torch
g = torch.ones(64, device="neuron")
for _ in range(100):
    g = g * 1.01
threading.Thread(target=lambda: [torch.ones(4, device="neuron") + 1 for _ in range(200)]).start()
"""


def test_a_forked_child_is_refused_and_leaves_in_peace():
    assert python(FORK) == (0, "0 [3.0, 3.0, 3.0]", "")


def test_fork_before_the_first_use_is_fine():
    code = "import os, torch\nif os.fork(): os.wait()\nelse: print(torch.ones(1, device='neuron').item())"
    assert python(code)[:2] == (0, "1.0")


def test_exit_with_work_on_its_way():
    for last, expected in ("", 0), ("raise SystemExit(3)", 3):
        assert python(EXIT + last) == (expected, "", "")


def test_data_loader_with_workers_and_pinned_memory():
    torch.ones(1, device=DEVICE)
    data = TensorDataset(torch.arange(32.0).view(16, 2))
    for workers in 0, 2:
        total = torch.zeros((), device=DEVICE)
        for (batch,) in DataLoader(data, batch_size=4, num_workers=workers, pin_memory=True):
            assert batch.is_pinned()
            total += batch.to(DEVICE, non_blocking=True).sum()
        assert total.item() == 496


def test_the_log_tells_by_level_what_happens():
    code = """
import torch
x = torch.ones(3, device="neuron")
with torch.neuron.adaptive_eager(True):
    for _ in range(4):
        x = x * 2
    x.tolist()
    try:
        torch.gather(x, 0, torch.tensor([7], device="neuron")).tolist()
    except RuntimeError:
        pass
"""
    status, _, silent = python(code)
    assert (status, silent) == (0, "")
    lines = python(code, TORCH_NEURON_LOG="info", TORCH_NEURON_ADAPTIVE_EAGER="0")[2]
    assert "device neuron is ready: 1 x emulator, op by op" in lines and "runs at the call" not in lines
    lines = python(code, TORCH_NEURON_LOG="debug", TORCH_NEURON_VERIFY="0")[2]
    assert "aten::mul.Tensor runs at the call: first sight" in lines
    assert "ops, new: cut_host_read" in lines
