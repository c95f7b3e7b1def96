"""Compare a study with plain hooks, transformers and TransformerLens: python -m benchmarks.agreement FOLDER.

Of a described decoder such as SmolLM2-135M-Instruct; writes the table of docs/agreement.md. TransformerLens is asked
where it is installed. Each has a copy of the model; nothing is fetched.
"""

import re
import sys
from collections.abc import Callable, Sequence
from copy import deepcopy
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attention_core.hub.load import load_pretrained
from attention_core.hub.tracing import hooked
from attention_core.study import ModelOutput, Study
from attention_core.study.families import family_of, submodule
from attention_core.study.sites import layers_of
from benchmarks.report import publish

PAGE = Path(__file__).parents[1] / "docs" / "agreement.md"
TABLE = re.compile(r"(?<=<!-- made by python -m benchmarks.agreement -->\n).*?(?=\n\n|\Z)", re.DOTALL)
CLEAN, CORRUPT = "Mary has a red car. Mary has a red", "Mary has a red hat. Mary has a red"
WORDS = " car", " hat"
Numbers = dict[str, Tensor]
"""By what they are: of all layers and heads, in the same shapes from every library."""


def gap(out: ModelOutput) -> Tensor:
    return out.logit(WORDS[0]) - out.logit(WORDS[1])


def measured_heads(n_layers: int, n_heads: int) -> list[tuple[int, int]]:
    """Return one head of each layer, in turn."""
    return [(layer, layer % n_heads) for layer in range(n_layers)]


def ours(study: Study) -> Numbers:
    cache, (recording, _) = study.cache(CLEAN), study.run(CLEAN)
    chosen = measured_heads(len(recording.traces), recording.traces[0].n_heads)
    at = tuple(torch.tensor(chosen).T)
    heads = [(layer, head) for layer, trace in enumerate(recording.traces) for head in range(trace.n_heads)]

    def of_heads(name: str) -> Tensor:
        return torch.stack([cache[f"{layer}.{head}.{name}"] for layer, head in heads])

    put = study.patch(CLEAN, CORRUPT, metric=gap, heads=chosen)
    assert put.estimate is not None
    return {
        "weights": of_heads("pattern"),
        "what heads hand over": of_heads("z"),
        "residual stream": torch.stack([cache[f"residual.{layer}"] for layer in range(len(recording.traces))]),
        "metric without a head": study.ablate(CLEAN, metric=gap, heads=chosen).values[at],
        "metric with a patched head": put.values[at],
        "its estimate by a gradient": put.estimate.flatten(),
        "direct effect of a head": study.attribute(CLEAN, metric=gap).heads.flatten(),
        "lens, last token": study.lens(CLEAN, position=-1).logits,
    }


def by_hooks(study: Study) -> Numbers:
    """Return the same by torch's hooks on the module that puts heads together, and on layers."""
    model, clean, corrupt = study.model, study.inputs(CLEAN), study.inputs(CORRUPT)
    layers, family = layers_of(model), family_of(model)
    outputs = [submodule(layer, family.output) for layer in layers]
    n_heads, words = model.config.num_attention_heads, [study.tokenizer(word)["input_ids"][0] for word in WORDS]
    width = model.config.hidden_size // n_heads

    def metric(inputs: Any) -> Tensor:
        logits = model(**inputs).logits[0, -1]
        return logits[words[0]] - logits[words[1]]

    given: dict[Any, Tensor] = {}
    with hooked(outputs, lambda module, args: given.update({module: args[0].clone()}), before=True):
        model(**clean)
    of_clean = [given[module] for module in outputs]
    states: list[Tensor] = []
    with hooked(layers, lambda _, __, output: states.append(output)):
        model(**clean)

    def with_head(inputs: Any, new: Callable[[int, slice], Any]) -> Tensor:
        values = []
        for layer, head in measured_heads(len(outputs), n_heads):
            columns = slice(head * width, (head + 1) * width)

            def change(_: Any, args: Any, layer: int = layer, columns: slice = columns) -> Any:
                changed = args[0].clone()
                changed[..., columns] = new(layer, columns)
                return (changed,)

            with hooked([outputs[layer]], change, before=True):
                values.append(metric(inputs))
        return torch.stack(values)

    ablated = with_head(clean, lambda layer, columns: 0.0)
    patched = with_head(corrupt, lambda layer, columns: of_clean[layer][..., columns])
    leaves: dict[Any, Tensor] = {}
    with torch.enable_grad(), hooked(outputs, lambda module, args: leave(leaves, module, args[0]), before=True):
        value = metric(corrupt)
    slopes = torch.autograd.grad(value, [leaves[module] for module in outputs])
    steps = [(new - leaves[module]) * slope for new, module, slope in zip(of_clean, outputs, slopes, strict=True)]
    norm, row = model.base_model.norm, states[-1][0, -1]
    scale = (row.pow(2).mean() + norm.variance_epsilon).rsqrt()
    slope = scale * norm.weight * (model.lm_head.weight[words[0]] - model.lm_head.weight[words[1]])
    added = [
        (z[0, -1].unflatten(0, (n_heads, -1)) * (slope @ module.weight).unflatten(0, (n_heads, -1))).sum(1)
        for z, module in zip(of_clean, outputs, strict=True)
    ]
    embedded = model.get_input_embeddings()(clean["input_ids"])
    return {
        "what heads hand over": torch.cat([z[0].unflatten(-1, (n_heads, -1)).transpose(0, 1) for z in of_clean]),
        "residual stream": torch.cat(states),
        "metric without a head": ablated,
        "metric with a patched head": patched,
        "its estimate by a gradient": value.detach()
        + torch.cat([step[0].detach().unflatten(-1, (n_heads, -1)).sum((0, 2)) for step in steps]),
        "direct effect of a head": torch.cat(added),
        "lens, last token": torch.stack([model.lm_head(norm(state[0, -1])) for state in (embedded, *states)]),
    }


def leave(leaves: dict[Any, Tensor], module: Any, states: Tensor) -> tuple[Tensor]:
    """Make what a module is given a tensor that a gradient comes back to."""
    leaves[module] = states if states.requires_grad else states.requires_grad_()
    return (leaves[module],)


def of_transformers(study: Study) -> Numbers:
    out = study.model(**study.inputs(CLEAN), output_attentions=True, output_hidden_states=True)
    return {"weights": torch.cat(out.attentions).flatten(0, 1)}


def of_transformer_lens(study: Study, folder: Path) -> Numbers:
    from transformer_lens.model_bridge import TransformerBridge

    bridge = TransformerBridge.boot_transformers(str(folder), hf_model=study.model, device="cpu")
    clean, corrupt = (study.inputs(text)["input_ids"] for text in (CLEAN, CORRUPT))
    _, cache = bridge.run_with_cache(clean)
    layers, words = range(bridge.cfg.n_layers), [study.tokenizer(word)["input_ids"][0] for word in WORDS]
    z = [cache[f"blocks.{layer}.attn.hook_z"] for layer in layers]
    states = [cache[f"blocks.{layer}.hook_resid_post"] for layer in layers]

    def with_head(ids: Tensor, new: Sequence[Tensor]) -> Tensor:
        values = []
        for layer, head in measured_heads(len(layers), bridge.cfg.n_heads):

            def change(z: Tensor, hook: Any, layer: int = layer, head: int = head) -> Tensor:
                is_head = torch.arange(z.shape[2]) == head
                return torch.where(is_head[:, None], new[layer], z)

            logits = bridge.run_with_hooks(ids, fwd_hooks=[(f"blocks.{layer}.attn.hook_z", change)])[0, -1]
            values.append(logits[words[0]] - logits[words[1]])
        return torch.stack(values)

    of_lens = [cache["blocks.0.hook_resid_pre"], *states]
    return {
        "weights": torch.cat([cache[f"blocks.{layer}.attn.hook_pattern"][0] for layer in layers]),
        "what heads hand over": torch.cat([contexts[0].transpose(0, 1) for contexts in z]),
        "residual stream": torch.cat(states),
        "metric without a head": with_head(clean, [*map(torch.zeros_like, z)]),
        "metric with a patched head": with_head(corrupt, z),
        "lens, last token": torch.cat([bridge.unembed(bridge.ln_final(state[:, -1:]))[0] for state in of_lens]),
    }


def main(folder: Path) -> None:
    pretrained = load_pretrained(folder)
    study = Study(pretrained.model, pretrained.tokenizer)
    numbers = ours(study)
    eager = Study(deepcopy(pretrained.model), pretrained.tokenizer)
    eager.model.set_attn_implementation("eager")
    with torch.no_grad():
        theirs = {"plain hooks": by_hooks(eager), f"transformers {version('transformers')}": of_transformers(eager)}
        if find_spec("transformer_lens"):
            theirs[f"transformer_lens {version('transformer_lens')}"] = of_transformer_lens(eager, folder)
    rows, differences = [("number", "the largest is", *theirs)], dict[str, dict[str, float]]()
    for name, values in numbers.items():
        found = {library: float((values - its[name]).abs().max()) for library, its in theirs.items() if name in its}
        differences[name] = found
        cells = [f"{found[library]:.0e}" if library in found else "" for library in theirs]
        rows.append((name, f"{float(values.abs().max()):.3g}", *cells))
    publish("agreement", rows, {"torch": version("torch"), "model": folder.name, "differences": differences})
    lines = ["| " + " | ".join(row) + " |" for row in (rows[0], ["---"] * len(rows[0]), *rows[1:])]
    PAGE.write_text(TABLE.sub(lambda _: "\n".join(lines), PAGE.read_text()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
