"""Processor time and memory of a study beside the model's plain forward: python -m benchmarks.real_model FOLDER.

Of a language model's folder, such as SmolLM2-135M-Instruct. Everything is measured in this process, in turns; the names
of its heads are stored.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from attention_core.data.phrase_book import phrase_book
from attention_core.files import read_toml_beside
from attention_core.hub.load import load_pretrained, n_bytes_of
from attention_core.hub.model import in_megabytes
from attention_core.study import ModelOutput, Study, stored_names
from benchmarks.report import publish
from ui.hosting.warm_up import share_memory

SENTENCE = "The animal didn't cross the street because it was too tired."
ROUNDS, N_LONG, N_NEW = 3, 512, 10


def peak_bytes(before: int = 0) -> int:
    """Return the largest resident memory since the last call, less what was there before (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    Path("/proc/self/clear_refs").write_text("5")
    return peak - before


def seconds(*calls: Callable[[], Any]) -> list[float]:
    """Return the shortest processor time of each call, run in turns: another program takes none of it."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, seconds_of_call in zip(calls, times, strict=True):
            start = time.process_time()
            call()
            seconds_of_call.append(time.process_time() - start)
    return [min(seconds_of_call) for seconds_of_call in times]


def look_at_all_heads(study: Study, inputs: dict[str, Any]) -> None:
    for trace in study.run(inputs)[0].traces:
        for head in range(trace.n_heads):
            trace.weights(head)


def gap(out: ModelOutput) -> Any:
    return out.logit(260) - out.logit(282)


def measure(study: Study, ids: torch.Tensor, floor: int, n_bytes: int) -> tuple[list[Sequence[str]], dict[str, Any]]:
    """Return rows of the table for one input, and its figures."""
    inputs = study.inputs({"input_ids": ids})
    corrupt = {"input_ids": ids.flip(1)}
    last, top = ids.shape[1] - 1, study.run(inputs)[0].traces
    place = {"layer": len(top) - 1, "head": top[-1].n_heads - 1, "query": last, "key": 1}
    calls: dict[str, tuple[Callable[[], Any], str]] = {
        "text to all heads": (lambda: look_at_all_heads(study, inputs), "2" if last < 100 else "1.5, and 1 s"),
        "why, of one score": (lambda: study.why(inputs, **place), "5"),
        "logits by head": (lambda: study.attribute(inputs, metric=gap), "6"),
        "patch, by gradient": (lambda: study.patch(inputs, corrupt, metric=gap, measure=False), ""),
        "ablate, by gradient": (lambda: study.ablate(inputs, metric=gap, measure=False), ""),
    }

    def forward() -> None:
        with torch.inference_mode():
            study.model(**inputs)

    def write() -> None:
        study.model.generate(**inputs, max_new_tokens=N_NEW, min_new_tokens=N_NEW, do_sample=False)

    del top
    if last < 100:
        calls["ten tokens, in generate"] = lambda: study.generate(inputs, N_NEW), "2"
    rows: list[Sequence[str]] = []
    figures: dict[str, Any] = {}
    for name, (call, goal) in calls.items():
        peak_bytes()
        plain, taken = seconds(write if "generate" in name else forward, call)
        peak = peak_bytes(floor)
        figures[name] = {"forward_s": plain, "seconds": taken, "bytes": peak}
        ratio, of_weights = f"{taken / plain:.2f}", f"{peak / n_bytes:.2f}"
        rows.append((f"n = {last + 1}", name, f"{plain:.2f} s", f"{taken:.2f} s", ratio, goal, of_weights))
    return rows, figures


def store_names(study: Study, model: str) -> None:
    """Write what the heads of a model are called beside those of others, see attention_core.study.stored_names."""
    columns, heads = study.names().columns(), dict[str, list[str]]()
    for layer, head, name in zip(columns["layer"], columns["head"], columns["name"], strict=True):
        if name:
            heads.setdefault(name, []).append(f"{layer}.{head}")
    lines = [f"# Written by python -m benchmarks.{Path(__file__).stem}"]
    for name_of_model, table in (read_toml_beside(stored_names.__file__) | {model: heads}).items():
        lines += [f'["{name_of_model}"]', *(f'"{name}" = {json.dumps(refs)}' for name, refs in table.items())]
    Path(stored_names.__file__).with_suffix(".toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(folder: Path) -> None:
    share_memory()  # as the app's server has it: what is freed goes back
    study_bytes = n_bytes_of(folder)
    Study(torch.nn.Identity())
    peak_bytes()
    floor = peak_bytes()
    pretrained = load_pretrained(folder)
    load_peak = peak_bytes(floor)
    study = Study(pretrained.model, pretrained.tokenizer)
    rows: list[Sequence[str]] = [("input", "what", "forward", "takes", "forwards", "goal", "memory / weights")]
    rows.append(("", "load", "", "", "", "", f"{load_peak / study_bytes:.2f}"))
    figures: dict[str, Any] = {"model": folder.name, "weights": in_megabytes(study_bytes), "load_bytes": load_peak}
    short = study.inputs(SENTENCE)["input_ids"]
    long = study.inputs(" ".join(phrase_book()[:N_LONG]))["input_ids"][:, :N_LONG]
    with torch.inference_mode(False):
        for ids in (short, long):
            new_rows, figures[f"n={ids.shape[1]}"] = measure(study, ids, floor, study_bytes)
            rows += new_rows
        store_names(study, folder.name)
    publish("real_model", rows, {"torch": torch.__version__, "threads": torch.get_num_threads()} | figures)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
