"""What a trace costs, and how memory grows with n: python -m benchmarks.attend.

Goals: attention with a trace takes at most 1.1 times the fused forward pass at n = 784; memory grows with n, not n x n.
"""

from __future__ import annotations

import json
import sys

import torch
import torch.nn.functional as F

from attention_core import AttentionTrace, Axis, Story, attend, load
from benchmarks.report import in_fresh_process, milliseconds_each, peak_kilobytes, publish, reset_peak

SIZES = (784, 4096, 16384)
D = 16
ROUNDS = 41


def measure_memory(kind: str, n: int) -> None:
    """Attend once in this process and print by how many megabytes its resident memory rises at its highest."""
    torch.manual_seed(0)
    warm, query, key, value = (torch.randn(1, 1, size, D) for size in (300, n, n, n))
    with torch.inference_mode():
        _run(kind, warm, warm, warm)
        before = reset_peak()
        _run(kind, query, key, value)
    print(json.dumps((peak_kilobytes() - before) / 1024))


def _run(kind: str, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> None:
    if kind == "materialised":
        weights = (query @ key.transpose(-2, -1) / D**0.5).softmax(-1)
        weights @ value
        return
    attended = attend(query, key, value, with_normaliser=True)
    if kind == "trace and averages":
        axis = Axis.numbered("tokens", query.shape[2])
        trace = AttentionTrace(
            query=query[0],
            key=key[0],
            value=value[0],
            normaliser=attended.log_normaliser[0],
            fused_context=attended.context[0],
            story=Story(mechanism="random", query_axis=axis, key_axis=axis),
        )
        trace.summary(0)


def time_traces() -> dict[str, float]:
    """Return milliseconds at n = 784: fused attention without and with a trace, and the digit model's whole forward."""
    torch.manual_seed(0)
    query, key, value = (torch.randn(1, 1, 784, D) for _ in range(3))
    model, image = load("pixel-classifier", "cpu"), torch.rand(1, 28, 28)
    with torch.inference_mode():
        return milliseconds_each(
            {
                "torch's fused attention": lambda: F.scaled_dot_product_attention(query, key, value),
                "attend": lambda: attend(query, key, value),
                "attend with a trace": lambda: attend(query, key, value, with_normaliser=True),
                "model": lambda: model(image),
                "model with a trace": lambda: model(image, trace=True),
            },
            ROUNDS,
        )


def main() -> None:
    """Measure, print, write results/attend.json."""
    times = time_traces()
    ratio = times["attend with a trace"] / times["attend"]
    model_ratio = times["model with a trace"] / times["model"]
    kinds = ("attend with a trace", "trace and averages", "materialised")
    memory = {kind: {n: in_fresh_process("attend", kind, n) for n in SIZES} for kind in kinds}
    rows = [["one picture, 784 tokens", "processor time", "times the untraced"]]
    rows += [[name, f"{value:.2f} ms", ""] for name, value in times.items()]
    rows[3][2], rows[5][2] = f"{ratio:.2f} (goal 1.1)", f"{model_ratio:.2f} (goal 1.1)"
    rows += [["", "", ""], ["extra memory at n =", ", ".join(f"{n:,}" for n in SIZES), "MB"]]
    rows += [[kind, ", ".join(f"{sizes[n]:,.1f}" for n in SIZES), ""] for kind, sizes in memory.items()]
    figures = {
        "milliseconds": {name: round(value, 3) for name, value in times.items()},
        "trace_over_fused": round(ratio, 3),
        "model_with_trace_over_model": round(model_ratio, 3),
        "extra_peak_megabytes": {
            kind: {str(n): round(v, 1) for n, v in sizes.items()} for kind, sizes in memory.items()
        },
        "torch": torch.__version__,
    }
    publish("attend", rows, figures)


if __name__ == "__main__":
    measure_memory(sys.argv[1], int(sys.argv[2])) if len(sys.argv) == 3 else main()
