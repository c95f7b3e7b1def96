"""Write a model's folder from a GGUF file: python -m attention_core.hub.convert_gguf FILE FOLDER.

Its weights are unpacked to float32 and saved as safetensors, the only format that the app reads. It needs the packages
gguf and accelerate, and a file of an architecture that transformers knows how to unpack.
"""

import sys
from pathlib import Path

import torch


def convert(file: Path, folder: Path) -> None:
    """Write model, settings and tokenizer of a decoder."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    unpacked = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    config = unpacked.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)  # one that is no longer called quantised
    model.load_state_dict(unpacked.state_dict())
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name).save_pretrained(folder)


if __name__ == "__main__":
    convert(*map(Path, sys.argv[1:3]))
