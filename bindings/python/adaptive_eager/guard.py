"""Decides whether the device can be loaded here, and says clearly why not. Imports neither torch nor the extension."""
import glob
import importlib
import importlib.metadata
import importlib.util
import os
import sys
import sysconfig
import warnings
from types import ModuleType

VERSION = "0.1.0"
TORCH_RELEASE = "2.13"  # the C++ interface of PyTorch changes from release to release
EXTENSION = "adaptive_eager._C"
FOLDER = os.path.dirname(os.path.abspath(__file__))
# AWS's own backend for Trainium registers the name `neuron` too.
RIVAL = "torch_neuronx"

failure: ImportError | None = None  # why the device did not load in this process


def torch_is_loading() -> bool:
    """Whether `import torch` is under way, that is, whether PyTorch called us to load its backends."""
    torch = sys.modules.get("torch")
    return bool(getattr(getattr(torch, "__spec__", None), "_initializing", False))


def warn(text: str) -> None:
    """Warns; prints where warnings are errors, since nothing may leave `import torch`."""
    try:
        warnings.warn(f"adaptive_eager: {text}", RuntimeWarning, stacklevel=3)
    except Warning:
        print(f"adaptive_eager: {text}", file=sys.stderr)


def as_import_error(error: Exception) -> ImportError:
    """The error as an ImportError that names the package."""
    if isinstance(error, ImportError):
        return error
    text = f"the device 'neuron' could not be set up: {type(error).__name__}: {error}"
    return ImportError(text, name="adaptive_eager").with_traceback(error.__traceback__)


def check_torch(version: str) -> None:
    """Refuses a PyTorch of another release than the one that this package is built for."""
    if version.split("+")[0].split(".")[:2] != TORCH_RELEASE.split("."):
        raise ImportError(
            f"adaptive_eager {VERSION} is built for PyTorch {TORCH_RELEASE}, but this is PyTorch {version}: "
            f"install torch=={TORCH_RELEASE}.* or an adaptive_eager that is built for {version}"
        )


def check_other_backends(torch: ModuleType, called_by_torch: bool) -> None:
    """Refuses to load beside another backend in PyTorch's one place for a device from outside (PrivateUse1)."""
    name = torch._C._get_privateuse1_backend_name()
    if name == "neuron":
        owner = RIVAL if RIVAL in sys.modules else "another package"
        raise ImportError(
            f"the device 'neuron' is already registered by {owner}; a process can have one such backend: "
            "uninstall one of the two, or choose with TORCH_DEVICE_BACKEND_AUTOLOAD=0 and an explicit import"
        )
    if name != "privateuseone":
        raise ImportError(
            f"another backend, '{name}', is already registered; a process can have one backend from outside PyTorch: "
            "uninstall one of the two, or choose with TORCH_DEVICE_BACKEND_AUTOLOAD=0 and an explicit import"
        )
    if called_by_torch and _rival_will_load():
        raise ImportError(
            f"{RIVAL} is installed and registers the device 'neuron' too; it is left to {RIVAL}: uninstall one of "
            "the two, or choose with TORCH_DEVICE_BACKEND_AUTOLOAD=0 and an explicit import"
        )


def _rival_will_load() -> bool:
    """Whether AWS's package is installed and asks PyTorch to load it."""
    if importlib.util.find_spec(RIVAL) is None:
        return False
    return any(point.module.split(".")[0] == RIVAL for point in importlib.metadata.entry_points(group="torch.backends"))


def load_extension() -> ModuleType:
    """Imports the C++ extension."""
    if importlib.util.find_spec(EXTENSION) is None:
        raise ImportError(_why_absent(), name=EXTENSION)
    try:
        return importlib.import_module(EXTENSION)
    except ImportError as error:
        raise ImportError(
            f"the extension in {FOLDER} does not load: {error}; it is probably built for another PyTorch: "
            "build it again",
            name=EXTENSION,
        ) from error


def _why_absent() -> str:
    """Why there is no extension that this Python can load: another Python's, or none as in the source folder."""
    others = sorted(os.path.basename(path) for path in glob.glob(os.path.join(FOLDER, "_C.*")))
    if others:
        wanted = "_C" + (sysconfig.get_config_var("EXT_SUFFIX") or "")
        return f"the extension in {FOLDER} is built for another Python: found {', '.join(others)}, need {wanted}"
    return (
        f"{FOLDER} has no C++ extension: it is a source folder that hides the installed package, or was never built; "
        "run Python from another folder, or build with ./dev build and use ./dev python"
    )
