"""Random programs that must behave on the device exactly as on the CPU.

In the order of a program's life: `generate`, `blocks` and the `ops_*` modules write it, `program` holds it and prints
it as Python, `runtime` and `concurrency` are what it needs when it runs, `check` runs it on both devices, `compare`
finds the first difference, `shrink` makes the program small, `script` prints it as a file of its own. `worker` does
this for many seeds in one process under one of the `configs`; `campaign` starts workers. `known` lists what is not
looked for.
"""
