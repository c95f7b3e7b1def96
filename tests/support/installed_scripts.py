"""Scripts that people run with the installed library alone."""

RECORD = """
from attention_core import trace_model
from transformers import AutoModelForCausalLM, AutoTokenizer
name = "./tiny"
pieces, model = AutoTokenizer.from_pretrained(name), AutoModelForCausalLM.from_pretrained(name)
recording = trace_model(model, tokens=pieces, **pieces("The animal was tired.", return_tensors="pt"))
recording.save("run.npz")
"""
LIBRARY = """
import sys, attention_core
assert "torch" not in sys.modules
from attention_core import load, load_recording
from attention_core.files import find_file
assert load("pixel-classifier", "cpu").trace(__import__("torch").eye(28)).n_keys == 784
assert all(find_file(f"benchmarks/results/{name}.json").is_file() for name in ("grammar", "cost"))
recording = load_recording("run.npz")
print(attention_core.__file__, attention_core.__version__, recording.names, recording.text)
"""
SCRIPT = '''"""What a person writes."""

import torch

from attention_core import AttentionTrace, Recording, __version__, capture, load, load_recording, trace_model


def largest(trace: AttentionTrace) -> float:
    """Return the largest weight of the first head."""
    return float(trace.weights(head=0).max())


def record(model: torch.nn.Module, x: torch.Tensor) -> Recording:
    """Record a model, and write and read what it did."""
    with capture(tokens=["a", "b"]) as recording:
        model(x)
    recording.save("run.npz")
    return load_recording("run.npz")


trace = load("pixel-classifier").trace(torch.rand(28, 28))
recording = record(torch.nn.Linear(1, 1), torch.rand(1))
print(__version__, largest(trace), recording["layers.0"].n_heads, trace_model(torch.nn.Linear(1, 1), item=0).names)
'''
STRICT = """[mypy]
strict = True
[mypy-pandas.*,sympy.*,torch.*,transformers.*]
follow_imports = skip
[mypy-torch,torch._C,torch._tensor,torch.nn,torch.nn.modules,torch.nn.modules.module]
follow_imports = normal
"""
"""Of other libraries the types of tensors and modules alone are read: following all takes a minute."""
