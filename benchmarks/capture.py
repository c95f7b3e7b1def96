"""What it costs to keep every attention of a model: python -m benchmarks.capture. README.md says what is measured."""

import json
import sys
from collections.abc import Callable
from typing import Any

import torch
from transformers import BertConfig, BertModel

from attention_core import capture, trace_model
from benchmarks.report import in_fresh_process, milliseconds_each, peak_kilobytes, publish, reset_peak

N_LAYERS, N_HEADS, WIDTH = 6, 12, 384
ROUNDS = {512: 31, 2048: 11}
N_FOR_MEMORY = 4096
WAYS = ("the model alone", "trace_model", "capture", "output_attentions")
GOALS = {"trace_model": 1.10, "capture": 1.15}


def call_of(way: str, n: int) -> Callable[[], object]:
    """Return a call of a model of its own that goes one of the ways over n tokens."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=30_522,
        hidden_size=WIDTH,
        num_hidden_layers=N_LAYERS,
        num_attention_heads=N_HEADS,
        intermediate_size=4 * WIDTH,
        max_position_embeddings=max(N_FOR_MEMORY, n),
    )
    config._attn_implementation = "eager" if way == "output_attentions" else "sdpa"
    model = BertModel(config).eval()
    generator = torch.Generator().manual_seed(1)
    inputs = {
        "input_ids": torch.randint(1000, 30_000, (1, n), generator=generator),
        "attention_mask": torch.ones(1, n, dtype=torch.int64),
    }

    def alone(**more: Any) -> object:
        with torch.no_grad():
            return model(**inputs, **more)

    def captured() -> object:
        with capture() as recording:
            alone()
        return recording

    return {
        "the model alone": alone,
        "trace_model": lambda: trace_model(model, **inputs),
        "capture": captured,
        "output_attentions": lambda: alone(output_attentions=True),
    }[way]


def measure_memory(way: str) -> None:
    """Go one of the ways over 4,096 tokens and print by how many megabytes the resident memory rises at its highest."""
    call_of(way, 300)()
    call = call_of(way, N_FOR_MEMORY)
    before = reset_peak()
    result = call()
    print(json.dumps((peak_kilobytes() - before) / 1024))
    del result


def main() -> None:
    times = {n: milliseconds_each({way: call_of(way, n) for way in WAYS}, rounds) for n, rounds in ROUNDS.items()}
    ratios = {n: {way: ms / some["the model alone"] for way, ms in some.items()} for n, some in times.items()}
    rises = {way: in_fresh_process("capture", way) for way in WAYS}
    extra = {way: rise - rises["the model alone"] for way, rise in rises.items()}
    rows = [["", *(f"n = {n:,}" for n in ROUNDS), "goal", f"extra memory at {N_FOR_MEMORY:,}"]]
    for way in WAYS:
        goal = f"{GOALS[way]:.2f}" if way in GOALS else ""
        cells = [f"{times[n][way]:.0f} ms, {ratios[n][way]:.2f}" for n in ROUNDS]
        memory = f"{extra[way]:,.0f} MB"
        if goal:
            memory += f", 1/{extra['output_attentions'] / max(extra[way], 0.1):.0f} (goal 1/20)"
        rows.append([way, *cells, goal, memory])
    figures = {
        "milliseconds": {str(n): {way: round(ms, 1) for way, ms in some.items()} for n, some in times.items()},
        "times_the_model_alone": {str(n): {way: round(r, 3) for way, r in some.items()} for n, some in ratios.items()},
        "rise_of_memory_mb": {way: round(rise, 1) for way, rise in rises.items()},
        "extra_memory_mb": {way: round(more, 1) for way, more in extra.items()},
        "torch": torch.__version__,
    }
    publish("capture", rows, figures)


if __name__ == "__main__":
    measure_memory(sys.argv[1]) if len(sys.argv) == 2 else main()
