"""Pinned memory, copies that do not block, and a DataLoader with workers beside a device in use."""
import pytest
import torch
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

from surface import DEVICE


class Counting(IterableDataset):
    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        yield from ({"x": torch.full((3,), float(i)), "name": str(i)} for i in range(first, 12, step))


def total(loader, read):
    sums = torch.zeros((), device=DEVICE)
    for batch in loader:
        sums += read(batch).to(DEVICE, non_blocking=True).sum()
    return sums.item()


@pytest.mark.parametrize("persistent", [False, True])
def test_workers_and_pinned_memory_for_some_epochs(persistent):
    data = TensorDataset(torch.arange(48.0).view(24, 2))
    loader = DataLoader(data, batch_size=4, shuffle=True, num_workers=2, pin_memory=True, prefetch_factor=3,
                        persistent_workers=persistent)
    for _ in range(3):
        assert total(loader, lambda batch: batch[0]) == 47 * 48 / 2


def test_dictionaries_and_a_device_for_pinning():
    for options in {}, {"pin_memory_device": DEVICE}:
        loader = DataLoader(Counting(), batch_size=2, num_workers=2, pin_memory=True, **options)
        batches = list(loader)
        assert all(batch["x"].is_pinned() for batch in batches)
        assert total(batches, lambda batch: batch["x"]) == 3 * 66


def fails_at_five(items):
    if items[0][0].item() == 5:
        raise KeyError("of the user")
    return items[0]


def test_an_exception_of_a_worker():
    loader = DataLoader(TensorDataset(torch.arange(8.0)), batch_size=1, num_workers=1, pin_memory=True,
                        collate_fn=fails_at_five)
    with pytest.raises(KeyError, match="of the user"):
        total(loader, lambda batch: batch[0])
    assert (torch.ones(2, device=DEVICE) + 1).tolist() == [2, 2]


def test_a_dataset_that_gives_tensors_of_the_device():
    data = TensorDataset(torch.arange(6.0, device=DEVICE))
    assert total(DataLoader(data, batch_size=2), lambda batch: batch[0]) == 15


def test_random_samplers_are_those_of_the_cpu():
    def order(generator):
        return [int(x) for (x,) in DataLoader(TensorDataset(torch.arange(9)), shuffle=True, generator=generator)]

    assert order(torch.Generator().manual_seed(4)) == order(torch.Generator().manual_seed(4))


def test_pinned_tensors():
    x = torch.arange(5.0).pin_memory()
    assert x.is_pinned() and x.is_pinned(DEVICE) and x.pin_memory() is x
    assert not torch.ones(2).is_pinned() and not torch.ones(2, device=DEVICE).is_pinned()
    assert torch.empty(3, pin_memory=True).is_pinned() and x[1:].is_pinned()
    with pytest.raises(RuntimeError, match="pin"):
        torch.ones(2, device=DEVICE).pin_memory()


def test_copies_that_do_not_block():
    host = torch.arange(1000.0).pin_memory()
    there = host.to(DEVICE, non_blocking=True)
    back = torch.empty(1000, pin_memory=True)
    for _ in range(20):
        there = there + 1
    back.copy_(there, non_blocking=True)
    torch.neuron.synchronize()
    assert torch.equal(back, host + 20)


def test_pinned_memory_that_is_freed_before_the_copy_ran():
    kept = []
    for i in range(50):
        host = torch.full((1000,), float(i)).pin_memory()
        kept.append(host.to(DEVICE, non_blocking=True) * 2)
        del host
    assert [int(one[0].item()) for one in kept] == [2 * i for i in range(50)]
