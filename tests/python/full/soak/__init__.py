"""A long mixed run under injected faults. `steps` is what an iteration computes, on CPU and on the device; `player`
runs iterations in one thread, recovers from faults and compares bits. run_soak.py is the command.
"""
