"""Orders of importance for models of several layers: what reaches the answer through all of them, not through one.

Of a translator the encoder's layers are gone through, and then the mean of the attentions on the source.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from attention_core.faithfulness.attribution import MAX_VARIANTS_AT_ONCE, StackLayer, Subject, confidence, mean_weights

ROLLOUT, LENGTH, SLOPE, ZEROING = "rollout", "weight × length", "attention × gradient", "value zeroing"
CROSS, DECODER = "cross", "decoder"  # what such attentions' names begin with


def stack_orders(subject: Subject) -> dict[str, Tensor]:
    """Return each unit's importance (n_units,) by four methods for several layers; empty without a stack."""
    if not subject.stack:
        return {}
    means = {name: weights.mean(0) for name, weights in subject.weights.items()}
    lengths = {name: layer.contributions.norm(dim=-1)[None] for name, layer in subject.stack.items()}
    zeroed = {name: value_zeroing(layer) for name, layer in subject.stack.items()}
    map_lengths = {name: lengths[name] for name in subject.map_weights}
    return {
        ROLLOUT: through_layers(subject, means, residual=0.5, attended=0.5),
        LENGTH: subject.of_keys(mean_weights(map_lengths)),
        SLOPE: through_layers(subject, attention_times_gradient(subject), residual=1, attended=1),
        ZEROING: through_layers(subject, zeroed, residual=0, attended=1),
    }


def through_layers(subject: Subject, maps: Mapping[str, Tensor], residual: float, attended: float) -> Tensor:
    """Return what reaches the answer from each unit, (n_units,), by a map (n_queries, n_keys) of each layer.

    A position keeps `residual` of what it was, and gets `attended` of what its map mixes.

    Source: attention rollout, Abnar and Zuidema 2020, "Quantifying attention flow in transformers", section 3.
    """
    reached = torch.eye(len(subject.unit_of)).to(subject.inputs)
    for name, rows in maps.items():
        if not name.startswith((CROSS, DECODER)):
            reached = residual * reached + attended * rows @ reached
    if crossed := [rows for name, rows in maps.items() if name.startswith(CROSS)]:
        reached = torch.stack(crossed).mean(0) @ reached
    return subject.per_unit(reached.mean(0) if subject.read_at is None else reached[subject.read_at])


def attention_times_gradient(subject: Subject) -> dict[str, Tensor]:
    """Return for each attention the mean over heads of weight x gradient of the answer, where above 0.

    Source: Chefer, Gur and Wolf 2021, "Generic attention-model explainability", equation 5.
    """
    answer = subject.probabilities().argmax(-1)
    slopes: dict[str, Tensor] = {}
    compute_answer, factor = (subject.slope, 0) if subject.slope else (subject.reweigh, 1)
    name_groups = [[*subject.weights]] if subject.slope else [[name] for name in subject.weights]
    for names in name_groups:  # the layers after one compute theirs anew
        with torch.inference_mode(False), torch.enable_grad():
            leaves = {name: (factor * subject.weights[name][None]).requires_grad_() for name in names}
            value = confidence(compute_answer(leaves), answer).sum()
            slopes |= dict(zip(names, torch.autograd.grad(value, list(leaves.values())), strict=True))
    return {name: (slope[0] * subject.weights[name]).clamp(min=0).mean(0) for name, slope in slopes.items()}


def value_zeroing(layer: StackLayer) -> Tensor:
    """Return how far each query's output turns when a key's value is 0, rows that sum to 1, (n_queries, n_keys).

    Source: Mohebbi et al. 2023, "Quantifying context mixing in transformers", section 3.
    """
    with torch.no_grad():
        states = layer.finish(layer.output[None])
        batches = layer.contributions.transpose(0, 1).split(MAX_VARIANTS_AT_ONCE)
        zeroed = [layer.finish(layer.output - batch) for batch in batches]
    turned = 1 - torch.cosine_similarity(torch.cat(zeroed), states, dim=-1).T
    return turned / turned.sum(-1, keepdim=True).clamp(min=1e-12)
