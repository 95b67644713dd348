"""The package never breaks `import torch`, and says clearly why it does not load."""
import shutil
import subprocess

import pytest

from surface import PACKAGE, python

ENTRY_POINTS = "[torch.backends]\n{name} = {name}:_autoload\n"


def install(folder, name, files):
    """Lays a package with an entry point into a folder."""
    (folder / name).mkdir(parents=True)
    for file, text in files.items():
        (folder / name / file).write_text(text)
    info = folder / f"{name}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS.format(name=name))
    return folder


@pytest.fixture
def source_only(tmp_path):
    """The package as its source folder holds it: no extension."""
    install(tmp_path, "adaptive_eager", {})
    for file in PACKAGE.glob("*.py"):
        shutil.copy(file, tmp_path / "adaptive_eager")
    return tmp_path


def test_import_torch_is_enough():
    assert python("import torch; print(torch.ones(2, device='neuron').tolist())")[:2] == (0, "[1.0, 1.0]")


def test_either_import_order():
    assert python("import adaptive_eager, torch; print(torch.neuron.is_available())")[:2] == (0, "True")
    assert python("import torch, adaptive_eager; print(torch.neuron.is_available())")[:2] == (0, "True")


def test_autoload_can_be_turned_off():
    code = "import torch; print(hasattr(torch, 'neuron')); import adaptive_eager; print(hasattr(torch, 'neuron'))"
    assert python(code, TORCH_DEVICE_BACKEND_AUTOLOAD="0")[:2] == (0, "False\nTrue")


def test_source_folder_does_not_break_torch(source_only):
    """Python started in the source folder: the source package hides the installed one."""
    code = "import torch; print(hasattr(torch, 'neuron'))"
    returncode, out, err = python(code, path=[source_only], folder=source_only)
    assert (returncode, out) == (0, "False") and "source folder" in err


def test_warnings_as_errors_do_not_break_torch(source_only):
    returncode, out, err = python("import torch; print('fine')", "-W", "error", path=[source_only])
    assert (returncode, out) == (0, "fine") and "source folder" in err


def test_explicit_import_raises(source_only):
    for before in "", "import torch\n":
        returncode, _, err = python(before + "import adaptive_eager", path=[source_only])
        assert returncode == 1 and "ImportError" in err and "source folder" in err


def test_extension_of_another_python(source_only):
    (source_only / "adaptive_eager" / "_C.cpython-399-x86_64-linux-gnu.so").touch()
    assert "built for another Python" in python("import torch", path=[source_only])[2]


def test_extension_that_does_not_load(source_only):
    (source_only / "adaptive_eager" / "_C.abi3.so").write_bytes(b"not a library")
    returncode, _, err = python("import torch", path=[source_only])
    assert returncode == 0 and "does not load" in err


def test_another_release_of_torch():
    code = "import torch; torch.__version__ = '2.99.0'; import adaptive_eager"
    _, _, err = python(code, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert "built for PyTorch 2.13, but this is PyTorch 2.99.0" in err


@pytest.mark.parametrize("name", ["other", "neuron"])
def test_refuses_beside_another_backend(name):
    code = f"import torch; torch.utils.rename_privateuse1_backend('{name}'); import adaptive_eager"
    returncode, _, err = python(code, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert returncode == 1 and "already registered" in err


def test_leaves_the_device_to_torch_neuronx(tmp_path):
    install(tmp_path, "torch_neuronx", {"__init__.py": "def _autoload(): pass"})
    path = [PACKAGE.parent, tmp_path]
    returncode, out, err = python("import torch; print(hasattr(torch, 'neuron'))", path=path)
    assert (returncode, out) == (0, "False") and "torch_neuronx is installed" in err
    code = "import adaptive_eager, torch; print(hasattr(torch, 'neuron'))"
    assert python(code, path=path, TORCH_DEVICE_BACKEND_AUTOLOAD="0")[:2] == (0, "True")


def test_loading_starts_nothing_heavy():
    code = "import sys, torch, threading; print('torch._dynamo' in sys.modules, len(threading.enumerate()))"
    assert python(code)[1] == "False 1"


def test_takes_no_static_thread_memory():
    """Libraries that do share some 1.6 KB; an OpenMP runtime that comes later would not load."""
    for library in PACKAGE.glob("*.so"):
        headers = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
        assert "STATIC_TLS" not in headers, library
