"""Conformance: every operation, module and optimizer that PyTorch tests itself with, on the device and on CPU.

Each sample of torch.testing's op_db, module_db and optim_db runs twice from one seed, on CPU and on the device. The two
must agree in bits, dtype, shape, stride, in what shares storage with what, and in errors.

In processing order: parent hands units to workers; a worker runs a unit (operations, modules, optimizers); a unit
observes a call on both devices, and compares; report adds up. run_conformance.py is the command.
"""
CATEGORIES = ("bit_equal", "close", "wrong", "error_on_device_only", "no_error_on_device", "crashed", "skipped")
BAD = ("wrong", "error_on_device_only", "no_error_on_device", "crashed")
