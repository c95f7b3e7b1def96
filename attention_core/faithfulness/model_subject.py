"""A described model of transformers as a subject: its tokens or patches are erased."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from attention_core.faithfulness.attribution import StackLayer, Subject
from attention_core.faithfulness.subjects import answers_of, eraser
from attention_core.hub.model import ModelError, ModelKind, Pretrained
from attention_core.hub.run import ModelInputs
from attention_core.hub.tracing import TRACE_LOCK, evaluating, hooked, run_model, stream_attention
from attention_core.study.families import family_of, matrix, submodule
from attention_core.study.sites import evaluated, recorded, states_of

MAX_UNITS = 64
COSINE_BOUND = 0.05


def model_subject(pretrained: Pretrained, prepared: ModelInputs) -> Subject:
    """Return the subject of a model and its input; erased tokens become unknown, erased patches the median colour.

    The answer of an encoder is its sentence vector, the mean of its tokens': how much of it is left is the cosine. That
    of a language model is the next token, of a vision model the class.

    Raises:
        ModelError: more parts than MAX_UNITS, an encoder-decoder, or a model without an answer.
        UnsupportedError: nobody has described the architecture, or it hands over no attention as it runs.
    """
    if pretrained.kind is ModelKind.ENCODER_DECODER:
        raise ModelError("An encoder and a decoder together are not taken apart here.")
    with torch.inference_mode(False), torch.no_grad():
        return _subject(pretrained, prepared)


def _subject(pretrained: Pretrained, prepared: ModelInputs) -> Subject:
    model: Any = pretrained.model
    family_of(model)
    arguments: dict[str, Any] = {name: value.to(model.device).clone() for name, value in prepared.inputs.items()}
    if pretrained.kind is ModelKind.VISION:
        inputs, baseline, prefix, to_arguments = _patches(arguments.pop("pixel_values"), prepared)
        special: frozenset[int] | range = range(prefix)
        names = [f"patch {position + 1}" for position in range(len(inputs) - prefix)]
    else:
        embedding = model.get_input_embeddings()
        inputs, baseline = embedding(arguments.pop("input_ids"))[0], _nothing(pretrained, embedding)
        special, to_arguments = prepared.special, lambda vectors: {"inputs_embeds": vectors}
        names = [name for position, name in enumerate(prepared.tokens) if position not in special]
    if len(names) > MAX_UNITS:
        raise ModelError(f"This is for up to {MAX_UNITS} tokens or patches; here are {len(names)}.")
    has_unit = torch.tensor([position not in special for position in range(len(inputs))], device=inputs.device)
    unit_of = torch.where(has_unit, has_unit.cumsum(0) - 1, -1)
    runner = model.base_model if pretrained.kind is ModelKind.ENCODER else model
    if pretrained.kind is ModelKind.DECODER:
        arguments |= {"use_cache": False} | pretrained.fewer_logits(1, 0)

    def arguments_for(vectors: Tensor) -> dict[str, Any]:
        n = len(vectors)
        tensors = {name: value for name, value in arguments.items() if isinstance(value, Tensor)}
        batch = {name: value.expand(n, *value.shape[1:]) for name, value in tensors.items()}
        return arguments | batch | to_arguments(vectors)

    unchanged = arguments_for(inputs[None])
    answer, slope_of = _reading(pretrained, evaluated(runner, unchanged))
    weights, stack, entered = _layers(model, runner, unchanged)

    def reweigh(read: Callable[[Any], Tensor], fixed_weights: Mapping[str, Tensor], adds: bool = False) -> Tensor:
        n, names = len(next(iter(fixed_weights.values()))), list(weights)
        first = min(map(names.index, fixed_weights))
        layers, states = list(entered)[:first], list(entered.values())[first]

        def on_attention(number: int, weights: Tensor, _: Tensor) -> Tensor | None:
            new = fixed_weights.get(names[first + number])
            return weights + new if adds and new is not None else new

        with TRACE_LOCK, _handing_on(layers, states.expand(n, -1, -1)):
            batch = arguments_for(inputs.expand(n, -1, -1))
            return read(stream_attention(runner, batch, on_attention, gradients=torch.is_grad_enabled()))

    at = {ModelKind.DECODER: len(inputs) - 1, ModelKind.VISION: 0 if prepared.n_prefix else None}
    return Subject(
        inputs=inputs,
        baseline=baseline,
        unit_of=unit_of,
        predict=lambda vectors: slope_of(evaluated(runner, arguments_for(vectors))),
        erase=eraser(lambda vectors: answer(evaluated(runner, arguments_for(vectors))), inputs, baseline, unit_of),
        weights=weights,
        reweigh=partial(reweigh, answer),
        slope=partial(reweigh, slope_of, adds=True),
        names=names,
        stack=stack,
        read_at=at.get(pretrained.kind),
        bound=COSINE_BOUND if pretrained.kind is ModelKind.ENCODER else Subject.bound,
    )


def _nothing(pretrained: Pretrained, embedding: nn.Module) -> Tensor:
    """Return the vector of the unknown token, (1, d); the mean of all where there is none."""
    number = getattr(pretrained.tokenizer, "unk_token_id", None)
    table: Tensor = embedding.weight  # type: ignore[assignment]
    if number is None:
        return table.detach().mean(0, keepdim=True)
    return embedding(torch.tensor([number], device=table.device))


def _patches(
    pixels: Tensor, prepared: ModelInputs
) -> tuple[Tensor, Tensor, int, Callable[[Tensor], dict[str, Tensor]]]:
    """Return patches (n_prefix + n_patches, d), zeros first, an erased one's colour, n_prefix, and the way back."""
    rows, columns = prepared.patch_grid or (1, 1)
    n_channels, height, width = pixels.shape[1:]
    shape = n_channels, rows, height // rows, columns, width // columns
    patches = pixels[0].view(shape).permute(1, 3, 0, 2, 4)
    flat, prefix = patches.flatten(2).flatten(0, 1), prepared.n_prefix
    inputs = torch.cat((flat.new_zeros(prefix, flat.shape[1]), flat))
    colour = pixels[0].flatten(1).median(1).values[:, None, None].expand(patches.shape[2:]).flatten()

    def to_arguments(vectors: Tensor) -> dict[str, Tensor]:
        patch_rows = vectors[:, prefix:].reshape(-1, rows, columns, *patches.shape[2:])
        return {"pixel_values": patch_rows.permute(0, 3, 1, 4, 2, 5).reshape(-1, n_channels, height, width)}

    return inputs, colour[None].clone(), prefix, to_arguments


def _reading(pretrained: Pretrained, output: Any) -> tuple[Callable[[Any], Tensor], Callable[[Any], Tensor]]:
    """Return two functions of an output that give an answer (batch, 1, n_classes); the second has a slope at the input.

    Of a sentence vector the first class is what is left of it: the cosine, which is at its largest at the input, or for
    the slope the part along the vector.
    """
    if pretrained.kind is not ModelKind.ENCODER:
        if not hasattr(output, "logits"):
            raise ModelError("This model only hands out states: it has no answer whose map could explain it.")
        last = slice(-1, None) if pretrained.kind is ModelKind.DECODER else None
        probabilities = lambda out: answers_of(out.logits if last is None else out.logits[:, last])  # noqa: E731
        return probabilities, probabilities
    sentence_vector = states_of(output).mean(1)[0]

    def cosine(out: Any) -> Tensor:
        remaining = torch.cosine_similarity(states_of(out).mean(1), sentence_vector, dim=-1)
        return torch.stack((remaining, 1 - remaining), -1)[:, None]

    def along(out: Any) -> Tensor:
        remaining = states_of(out).mean(1) @ sentence_vector / sentence_vector.square().sum()
        return torch.stack((remaining, 1 - remaining), -1)[:, None]

    return cosine, along


@contextmanager
def _handing_on(layers: Sequence[Any], states: Tensor) -> Iterator[None]:
    """Let layers return states that are known, instead of computing them; others use the model too: TRACE_LOCK.

    Layers return a bare tensor, as those of all families of the study do.
    """
    for layer in layers:
        layer.forward = lambda *_, **__: states
    try:
        yield
    finally:
        for layer in layers:
            del layer.forward


def _layers(
    model: Any, runner: Any, inputs: Mapping[str, Any]
) -> tuple[dict[str, Tensor], dict[str, StackLayer], dict[nn.Module, Tensor]]:
    """Return each layer's weights and what it makes of them, by name, and the states that enter each layer."""
    family = family_of(model)
    layers = list(submodule(model.base_model, family.layers))
    merges, calls = [submodule(layer, family.output) for layer in layers], {}

    def keep_call(layer: nn.Module, args: Any, settings: Any) -> None:
        calls[layer] = args, settings

    with hooked(layers, keep_call, before=True, with_kwargs=True), recorded(merges) as handed_over:
        traces = run_model(runner, inputs)[0].traces
    weights, stack, entered = {}, {}, {}
    for number, (layer, merge, trace) in enumerate(zip(layers, merges, traces, strict=True)):
        heads = range(trace.n_heads)
        layer_weights = torch.stack([trace.weights(head) for head in heads]).float()
        values = torch.stack([trace.value_of(head) for head in heads]).float()
        output_matrix = matrix(merge)[0].float().unflatten(0, (len(heads), -1))
        contributions = torch.einsum("hqk,hkd,hde->qke", layer_weights, values, output_matrix)
        weights[name := f"layer {number}"] = layer_weights.clone()
        output = handed_over[merge][-1].reshape(contributions.shape[::2])
        args, settings = calls[layer]
        entered[layer] = args[0] if args else settings["hidden_states"]
        stack[name] = StackLayer(contributions, output, partial(_finish, layer, merge, args, settings))
    return weights, stack, entered


def _finish(layer: Any, merge: nn.Module, args: Any, settings: Any, output: Tensor) -> Tensor:
    """Return what a layer makes of another output of its attention, (batch, n_queries, d)."""
    states = args[0] if args else settings["hidden_states"]
    states = states.expand(len(output), -1, -1)
    args, settings = ((states, *args[1:]), settings) if args else ((), {**settings, "hidden_states": states})
    with hooked([merge], lambda module, _inputs, old_output: output.reshape(old_output.shape)), evaluating(layer):
        return states_of(layer(*args, **settings))
