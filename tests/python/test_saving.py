"""torch.save and torch.load with every kind of map_location, pickle, deepcopy and the typed storages of old."""
import copy
import io
import pickle

import pytest
import torch
from torch import nn

from surface import DEVICE, bits, python

DTYPES = [torch.float32, torch.bfloat16, torch.float16, torch.float64, torch.int64, torch.int8, torch.bool,
          torch.complex64, torch.float8_e4m3fn]


def saved(value, **options):
    file = io.BytesIO()
    torch.save(value, file, **options)
    file.seek(0)
    return file


LOCATIONS = {
    "none": (None, DEVICE),
    "text": ("cpu", "cpu"),
    "text of the device": (f"{DEVICE}:0", DEVICE),
    "device": (torch.device("cpu"), "cpu"),
    "mapping": ({f"{DEVICE}:0": "cpu"}, "cpu"),
    "mapping of another": ({"cuda:0": "cpu"}, DEVICE),
    "function": (lambda storage, place: storage, "cpu"),
    "function that declines": (lambda storage, place: None, DEVICE),
    "function to the device": (lambda storage, place: storage.neuron(), DEVICE),
    "meta": ("meta", "meta"),
}


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
@pytest.mark.parametrize("kind", LOCATIONS)
def test_map_location(kind, zipped):
    x = torch.arange(12.0).view(3, 4)
    where, expected = LOCATIONS[kind]
    file = saved([x.to(DEVICE), x.to(DEVICE).t()[1:]], _use_new_zipfile_serialization=zipped)
    if not zipped and "function" in kind:
        where = None if "declines" in kind else {"cpu": "cpu"}.get(expected, DEVICE)
    whole, view = torch.load(file, map_location=where)
    assert whole.device.type == view.device.type == expected and view.stride() == (1, 4)
    if expected != "meta":
        assert torch.equal(whole.cpu(), x) and torch.equal(view.cpu(), x.t()[1:])


def test_from_the_cpu_to_the_device():
    x = torch.arange(6.0)
    assert torch.load(saved(x), map_location=DEVICE).is_neuron
    with torch.device(DEVICE):
        assert torch.equal(torch.load(saved(x), map_location=DEVICE).cpu(), x)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(dtype):
    x = torch.tensor([0, 1, 3, 1]).to(dtype)
    back = torch.load(saved(x.to(DEVICE)))
    assert back.is_neuron and back.dtype == dtype and torch.equal(bits(back), bits(x))
    if dtype != torch.float8_e4m3fn:  # the CPU cannot pickle it either
        assert torch.equal(bits(pickle.loads(pickle.dumps(x.to(DEVICE)))), bits(x))


def test_memory_mapped_and_weights_only(tmp_path):
    x = torch.arange(100.0)
    torch.save({"x": x.to(DEVICE)}, tmp_path / "file")
    for options in {"mmap": True}, {"weights_only": True}, {"mmap": True, "map_location": "cpu"}:
        back = torch.load(tmp_path / "file", **options)["x"]
        assert torch.equal(back.cpu(), x) and back.is_neuron == ("map_location" not in options)


def test_work_that_is_pending_is_saved():
    x = torch.zeros(50, device=DEVICE)
    for i in range(20):
        x = x + i
    assert torch.load(saved(x), map_location="cpu").tolist() == [190.0] * 50
    assert pickle.loads(pickle.dumps(x + 1)).tolist() == [191.0] * 50


def test_modules_and_optimizers():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        model(torch.randn(8, 4, device=DEVICE)).pow(2).sum().backward()
        optimizer.step()
    state = torch.load(saved({"model": model.state_dict(), "optimizer": optimizer.state_dict()}), map_location="cpu")
    other = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)).to(DEVICE)
    other.load_state_dict(state["model"])
    again = torch.optim.AdamW(other.parameters())
    again.load_state_dict(state["optimizer"])
    x = torch.randn(8, 4, device=DEVICE)
    for one, its in (model, optimizer), (other, again):
        one(x).pow(2).sum().backward()
        its.step()
    assert all(p.is_neuron for p in other.parameters())
    assert all(again.state[p]["exp_avg"].is_neuron for p in other.parameters())
    assert torch.equal(bits(other[1].running_mean), bits(model[1].running_mean))
    whole = torch.load(saved(model), weights_only=False)
    assert torch.equal(bits(whole(x)), bits(model(x)))


def test_copies_and_pickles_keep_what_is_shared():
    base = torch.arange(8.0, device=DEVICE)
    pair = base, base[2:4]
    for back in copy.deepcopy(pair), torch.load(saved(pair)):
        back[0].fill_(7)
        assert back[1].tolist() == [7, 7]
    assert pickle.loads(pickle.dumps(pair))[1].tolist() == [2, 3]
    assert base.tolist() == list(range(8))
    tied = nn.ModuleList([nn.Linear(2, 2, bias=False).to(DEVICE)] * 2)
    back = pickle.loads(pickle.dumps(tied))
    assert back[0].weight is back[1].weight and back[0].weight.is_neuron


def test_attributes_survive():
    x = nn.Parameter(torch.ones(3, device=DEVICE))
    z = torch.tensor([1 + 2j, 3j], device=DEVICE).conj()
    for back in pickle.loads(pickle.dumps([x, z])), copy.deepcopy([x, z]), torch.load(saved([x, z])):
        assert isinstance(back[0], nn.Parameter) and back[0].requires_grad
        assert torch.equal(back[1].cpu().resolve_conj(), torch.tensor([1 - 2j, -3j]))
    assert torch.load(saved(z)).is_conj() and pickle.loads(pickle.dumps(z.imag)).is_neg()


def test_a_file_is_read_where_the_device_is_not(tmp_path):
    torch.save(torch.arange(3.0, device=DEVICE), tmp_path / "file")
    code = f"import torch; print(torch.load({str(tmp_path / 'file')!r}, map_location='cpu').tolist())"
    assert python(code, TORCH_DEVICE_BACKEND_AUTOLOAD="0")[:2] == (0, "[0.0, 1.0, 2.0]")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, dtype", [
    ("Float", torch.float32), ("Double", torch.float64), ("Half", torch.float16), ("BFloat16", torch.bfloat16),
    ("Long", torch.int64), ("Int", torch.int32), ("Short", torch.int16), ("Char", torch.int8), ("Byte", torch.uint8),
    ("Bool", torch.bool), ("ComplexFloat", torch.complex64), ("ComplexDouble", torch.complex128),
])
def test_typed_storages(name, dtype):
    kind = getattr(torch.neuron, f"{name}Storage")
    x = torch.tensor([1, 0, 1], device=DEVICE).to(dtype)
    storage = x.storage()
    assert kind(2).dtype == kind.dtype == storage.dtype == dtype and kind(2).is_neuron and isinstance(storage, kind)
    assert kind in torch._storage_classes and len(storage) == 3
    assert storage.cpu().tolist() == x.tolist()
    storage[1] = 1
    assert x.tolist() == [1, 1, 1] and storage[1] == 1
    copied = pickle.loads(pickle.dumps(storage))
    assert copied.dtype == dtype and copied.tolist() == [1, 1, 1]
    assert storage.data_ptr() == x.data_ptr() and storage.clone().data_ptr() != x.data_ptr()
