"""Miniature models of Hugging Face's transformers and diffusers: tiny configs, random weights, nothing downloaded.

`registry` holds the table of models, `inputs` and `sizes` are what its rows share; `text`, `vision`, `audio` and
`mixed` fill it. `stages` runs a model on a device, `verdict` compares. run_models.py is the command.
"""
