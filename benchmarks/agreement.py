"""Compare numbers of a study with those of TransformerLens, nnsight and transformers: python -m benchmarks.agreement.

In an environment of its own, see docs/agreement.md, whose table this writes anew. Models are small: one that comes
along, and one with random weights of each other kind. Each library runs a copy with its own means; nothing is fetched.
"""

import os
import re
import tempfile
from copy import deepcopy
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
import torch
import transformers as hf
from nnsight import NNsight
from torch import Tensor
from transformer_lens.model_bridge import TransformerBridge

from attention_core import load
from attention_core.data.language_pieces import tokenizer
from attention_core.hub.tracing import run_model
from attention_core.study import ModelOutput, Study
from attention_core.study.families import family_of, part
from attention_core.study.sites import layers_of
from benchmarks.report import publish

PAGE = Path(__file__).parents[1] / "docs" / "agreement.md"
TABLE = re.compile(r"(?<=<!-- made by python -m benchmarks.agreement -->\n).*?(?=\n\n|\Z)", re.DOTALL)
N, CHOSEN, OTHER = 12, 5, 7  # tokens of an input; of which two the metric is the difference
SIZES = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4}
SIZES |= {"vocab_size": 100, "max_position_embeddings": 64}
GROUPED = {**SIZES, "num_key_value_heads": 2, "head_dim": 8}
RANDOM = {
    "GPT-2": hf.GPT2LMHeadModel(hf.GPT2Config(vocab_size=100, n_embd=32, n_layer=3, n_head=4, n_positions=64)),
    "GPT-NeoX": hf.GPTNeoXForCausalLM(hf.GPTNeoXConfig(**SIZES)),
    "Qwen 3": hf.Qwen3ForCausalLM(hf.Qwen3Config(**GROUPED)),
    "Gemma 2": hf.Gemma2ForCausalLM(hf.Gemma2Config(**GROUPED, sliding_window=5)),
    "BERT": hf.BertForMaskedLM(hf.BertConfig(**SIZES)),
}
Numbers = dict[str, Tensor]
"""By what they are: of all layers and heads, in the same shapes from every library."""


def metric(out: ModelOutput) -> Tensor:
    return out.logit(CHOSEN) - out.logit(OTHER)


class Places:
    """Where an architecture keeps what is read and changed, as the names of modules."""

    def __init__(self, model: Any) -> None:
        family, self.names = family_of(model), {module: name for name, module in model.named_modules()}
        self.layers = [self.names[layer] for layer in layers_of(model)]
        self.attentions = [self.names[part(layer, family.attention)] for layer in layers_of(model)]
        self.outputs = [self.names[part(layer, family.output)] for layer in layers_of(model)]
        self.n_heads = model.config.num_attention_heads


def ours(model: Any, clean: dict[str, Tensor], corrupt: dict[str, Tensor]) -> Numbers:
    study, traces = Study(model), run_model(model, clean)[0].traces

    def of_heads(name: str) -> Tensor:
        return torch.stack([torch.stack([*map(getattr(one, name), range(one.n_heads))]) for one in traces])

    found = {
        "weights": of_heads("weights"),
        "scores": of_heads("scores"),
        "what heads hand over": of_heads("context"),
        "metric without a head": study.ablate(clean, metric=metric).values,
        "metric with a patched head": study.patch(clean, corrupt, metric=metric, gradient=False).values,
        "metric with a patched state": study.patch(clean, corrupt, metric=metric, at="residual", gradient=False).values,
        "direct effect of a head": study.attribute(clean, metric=metric).heads,
    }
    if model.config.model_type != "bert":
        found["lens"] = study.lens(clean).logits
    return found


def of_transformers(model: Any, clean: dict[str, Tensor], **_: Any) -> Numbers:
    out = model(**clean, output_attentions=True, output_hidden_states=True)
    found = {"weights": torch.cat(out.attentions)}
    if model.config.model_type != "bert":  # the last of the states has the final norm behind it, the others have not
        norm = part(model.base_model, family_of(model).final)
        states = torch.cat([norm(torch.cat(out.hidden_states[:-1])), out.hidden_states[-1]])[:, -1]
        cap = getattr(model.config, "final_logit_softcapping", None)
        logits = model.lm_head(states)
        found["lens"] = logits if cap is None else cap * (logits / cap).tanh()
    return found


def of_transformer_lens(model: Any, clean: dict[str, Tensor], corrupt: dict[str, Tensor]) -> Numbers:
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        tokenizer().save_pretrained(folder)
        bridge = TransformerBridge.boot_transformers(folder, hf_model=model, device="cpu")
    ids, layers, heads = clean["input_ids"], range(bridge.cfg.n_layers), range(bridge.cfg.n_heads)
    _, cache = bridge.run_with_cache(ids)

    def measured(given: Tensor, name: str, change: Any) -> float:
        out = bridge.run_with_hooks(given, fwd_hooks=[(name, change)])
        return float(out[0, -1, CHOSEN] - out[0, -1, OTHER])

    def of_head(given: Tensor, layer: int, head: int, new: Any) -> float:
        def change(z: Tensor, hook: Any) -> Tensor:
            z = z.clone()
            z[:, :, head] = new if isinstance(new, int) else new[:, :, head]
            return z

        return measured(given, f"blocks.{layer}.attn.hook_z", change)

    def of_state(layer: int, position: int) -> float:
        def change(states: Tensor, hook: Any) -> Tensor:
            states = states.clone()
            states[:, position] = cache[f"blocks.{layer}.hook_resid_post"][:, position]
            return states

        return measured(corrupt["input_ids"], f"blocks.{layer}.hook_resid_post", change)

    def stacked(name: str) -> Tensor:
        return torch.cat([cache[f"blocks.{layer}.attn.{name}"] for layer in layers])

    zs = [cache[f"blocks.{layer}.attn.hook_z"] for layer in layers]
    found = {
        "weights": stacked("hook_pattern"),
        "what heads hand over": stacked("hook_z").transpose(1, 2),
        "metric without a head": torch.tensor([[of_head(ids, layer, head, 0) for head in heads] for layer in layers]),
        "metric with a patched head": torch.tensor(
            [[of_head(corrupt["input_ids"], layer, head, zs[layer]) for head in heads] for layer in layers]
        ),
        "metric with a patched state": torch.tensor(
            [[of_state(layer, position) for position in range(N)] for layer in layers]
        ),
    }
    scores = stacked("hook_attn_scores")
    if torch.allclose(scores.softmax(-1), found["weights"], atol=1e-5):  # else they are not those of its own weights
        found["scores"] = scores
    if model.config.model_type != "bert":  # its head is more than a norm and a matrix
        found["lens"] = cache.logit_lens().values[:, 0]
        if not family_of(model).writes:  # there a head's result is told before the norm of what attention adds
            results = cache.stack_head_results(layer=-1, pos_slice=-1, apply_ln=True)[: len(layers) * len(heads), 0]
            gain = part(model.base_model, family_of(model).final).weight
            slope = gain * (model.lm_head.weight[CHOSEN] - model.lm_head.weight[OTHER])
            found["direct effect of a head"] = (results @ slope).unflatten(0, (len(layers), -1))
    return found


def of_nnsight(model: Any, clean: dict[str, Tensor], corrupt: dict[str, Tensor]) -> Numbers:
    places, seen = Places(model), NNsight(model)
    outputs, layers, attentions = (
        [seen.get(name.replace(".output", ".E_output")) for name in names]
        for names in (places.outputs, places.layers, places.attentions)
    )
    with seen.trace(**clean):
        weights = list().save()
        for attention in attentions:
            weights.append(attention.output[1])
    with seen.trace(**clean):
        given, states = list().save(), list().save()
        for output, layer in zip(outputs, layers, strict=True):
            given.append(output.input)
            states.append(layer.output)
    width = given[0].shape[-1] // places.n_heads

    def of_head(inputs: dict[str, Tensor], layer: int, head: int, new: Any) -> float:
        own = slice(head * width, (head + 1) * width)
        with seen.trace(**inputs):
            changed = outputs[layer].input.clone()
            changed[..., own] = new if isinstance(new, int) else new[..., own]
            outputs[layer].input = changed
            logits = seen.output.logits.save()
        return float(logits[0, -1, CHOSEN] - logits[0, -1, OTHER])

    def of_state(layer: int, position: int) -> float:
        with seen.trace(**corrupt):
            changed = layers[layer].output.clone()
            changed[:, position] = states[layer][:, position]
            layers[layer].output = changed
            logits = seen.output.logits.save()
        return float(logits[0, -1, CHOSEN] - logits[0, -1, OTHER])

    n, heads = range(len(layers)), range(places.n_heads)
    return {
        "weights": torch.cat(weights),
        "what heads hand over": torch.cat(given).unflatten(-1, (places.n_heads, -1)).transpose(1, 2),
        "metric without a head": torch.tensor([[of_head(clean, layer, head, 0) for head in heads] for layer in n]),
        "metric with a patched head": torch.tensor(
            [[of_head(corrupt, layer, head, given[layer]) for head in heads] for layer in n]
        ),
        "metric with a patched state": torch.tensor([[of_state(layer, at) for at in range(N)] for layer in n]),
    }


LIBRARIES = {"transformers": of_transformers, "nnsight": of_nnsight, "transformer_lens": of_transformer_lens}


def compare(model: Any) -> tuple[Numbers, dict[str, dict[str, float]]]:
    """Return our numbers, and by library and number the largest difference."""
    model.eval().requires_grad_(False)
    clean, corrupt = ({"input_ids": torch.randint(10, min(model.config.vocab_size, 100), (1, N))} for _ in range(2))
    own, differences = ours(model, clean, corrupt), {}
    for library, numbers in LIBRARIES.items():
        copy = deepcopy(model)
        copy.set_attn_implementation("eager")
        with torch.no_grad():
            theirs = numbers(copy, clean=clean, corrupt=corrupt)
        differences[library] = {what: _largest(own[what] - its) for what, its in theirs.items()}
    return own, differences


def _largest(numbers: Tensor) -> float:
    return float(numbers[numbers.isfinite() & (numbers.abs() < 1e30)].abs().max())  # hidden keys have no score


def main() -> None:
    torch.manual_seed(0)
    for model in RANDOM.values():  # gains and biases of new models are 1 and 0
        for parameter in model.parameters():
            parameter.data += 0.05 * torch.randn_like(parameter)
    found = {name: compare(model) for name, model in {"tatoeba-llama": load("tatoeba-llama"), **RANDOM}.items()}
    differences = {name: theirs for name, (_, theirs) in found.items()}
    rows = [("number", "the largest is", *(f"{library} {version(library)}" for library in LIBRARIES))]
    for what in next(iter(found.values()))[0]:
        cells = []
        for library in LIBRARIES:
            known = [theirs[library][what] for theirs in differences.values() if what in theirs[library]]
            cells.append(f"{max(known):.0e}, {len(known)} models" if known else "")
        rows.append((what, f"{max(_largest(own[what]) for own, _ in found.values() if what in own):.3g}", *cells))
    publish("agreement", rows, {"torch": version("torch"), "differences": differences})
    lines = ["| " + " | ".join(row) + " |" for row in (rows[0], ["---"] * len(rows[0]), *rows[1:])]
    PAGE.write_text(TABLE.sub(lambda _: "\n".join(lines), PAGE.read_text()))


if __name__ == "__main__":
    main()
