"""Subjects of attribution of our trained models: the units that are erased, and the inputs that have gradients."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from itertools import compress, islice
from typing import Any, ParamSpec

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.attention.attend import attend
from attention_core.attention.edits import BatchWeights, Edits
from attention_core.attention.key_pairs import pair_products
from attention_core.attention.scores import Dot, Scaled, Score
from attention_core.attention.types import AttentionOutput
from attention_core.data.match3 import MODULUS
from attention_core.data.pieces import START
from attention_core.data.pieces import UNKNOWN as UNKNOWN_PIECE
from attention_core.data.review_pieces import PAD, UNKNOWN, pieces_of
from attention_core.data.scene_captions import END as CAPTION_END
from attention_core.data.scene_captions import START as CAPTION_START
from attention_core.device import device_of
from attention_core.faithfulness.attribution import ATTENTION, StackLayer, Subject
from attention_core.faithfulness.stacks import CROSS, DECODER
from attention_core.inference.sentiment import batch_of
from attention_core.models.digit_reader import END, DigitReader
from attention_core.models.feature_mask import FeatureMask
from attention_core.models.language_model import RecurrentLanguage, earlier
from attention_core.models.match3 import Match3Head
from attention_core.models.photo_network import GREY, PhotoNetwork
from attention_core.models.scene_caption import DecoderStep, SceneCaption
from attention_core.models.scene_question import SceneQuestion
from attention_core.models.sentence_attention import SentenceClassifier, TwoPhaseClassifier
from attention_core.models.transformer import EncoderLayer, KeyValueMemory, Transformer, TransformerEncoding
from attention_core.models.translator import SourceEncoding, Translator

INK_THRESHOLD = 0.3  # pixels above this are ink


def ink_mask(image: Tensor) -> Tensor:
    """Return which pixels of a picture are ink, bool (side, side)."""
    return image > INK_THRESHOLD


def erase_ink(image: Tensor, importance: Tensor, n_pixels: int) -> Tensor:
    """Erase the n_pixels ink pixels of the highest importance (side * side,), or all if there are fewer.

    Source: deletion test, Samek et al. 2017.
    """
    ink = ink_mask(image).flatten()
    ranked = importance.to(image.device).masked_fill(~ink, -torch.inf)
    erased = ranked.topk(min(n_pixels, int(ink.sum()))).indices
    return image.flatten().index_fill(0, erased, 0).view_as(image)


BLOCK_SIDE = 3  # regions along a side of a block of the reader's picture, which are erased together
P = ParamSpec("P")


def _with_plain_tensors(build_subject: Callable[P, Subject]) -> Callable[P, Subject]:
    """Build a subject outside inference mode, so that gradients may pass through its tensors later."""

    @wraps(build_subject)
    def build_with_plain_tensors(*args: P.args, **kwargs: P.kwargs) -> Subject:
        with torch.inference_mode(False), torch.no_grad():
            copies = [argument.clone() if isinstance(argument, Tensor) else argument for argument in args]
            return build_subject(*copies, **kwargs)  # type: ignore[arg-type]

    return build_with_plain_tensors


def answers_of(logits: Tensor) -> Tensor:
    """Return probabilities (batch, n_answers, n_classes) of logits; those of one answer are (batch, n_classes)."""
    return (logits[:, None] if logits.ndim == 2 else logits).softmax(-1)


def eraser(predict: Callable[[Tensor], Tensor], inputs: Tensor, baseline: Tensor, unit_of: Tensor) -> Callable:
    """Return a function of erased units, bool (batch, n_units), that predicts with the baseline in their place."""

    def erase(erased: Tensor) -> Tensor:
        is_erased = erased[:, unit_of.clamp(min=0)] & (unit_of >= 0)
        return predict(torch.where(is_erased[..., None], baseline, inputs))

    return erase


@_with_plain_tensors
def pixel_subject(model: nn.Module, image: Tensor) -> Subject:
    """Return the subject of a digit classifier over pixels and a picture (side, side); a unit is a pixel of ink."""
    inputs = image.flatten()[:, None].clone()
    ink = ink_mask(image).flatten()
    unit_of = torch.where(ink, ink.cumsum(0) - 1, -1)
    trace = model(image[None], trace=True).traces[0]
    weights = torch.stack([trace.weights(head) for head in range(trace.n_heads)])

    def predict(pixels: Tensor) -> Tensor:
        return answers_of(model(pixels.view(-1, *image.shape)).logits)

    def reweigh(weights: Mapping[str, Tensor]) -> Tensor:
        pictures = image.expand(len(weights[ATTENTION]), *image.shape)
        return answers_of(model(pictures, edits=(BatchWeights(weights[ATTENTION]),)).logits)

    baseline = torch.zeros_like(inputs)
    erase = eraser(predict, inputs, baseline, unit_of)
    return Subject(inputs, baseline, unit_of, predict, erase, {ATTENTION: weights}, reweigh)


def _subject_of_keys(
    predict: Callable[..., Tensor],
    inputs: Tensor,
    unit_of: Tensor,
    weights: Tensor,
    mask_of: Callable[[Tensor], Tensor],
    **options: Any,
) -> Subject:
    """Return the subject of a model whose units are erased as keys; inputs (n, d) are those of its attention.

    predict(inputs, mask, fixed_weights) answers for inputs (batch, n, d), with a mask or with fixed weights, (batch,
    n_heads, n_queries, n_keys); mask_of returns the mask for erased units, bool (batch, n_units).
    """

    def repeat(batch: Tensor) -> Tensor:
        return inputs.expand(len(batch), -1, -1)

    return Subject(
        inputs=inputs,
        baseline=torch.zeros_like(inputs),
        unit_of=unit_of,
        predict=predict,
        erase=lambda erased: predict(repeat(erased), mask_of(erased)),
        weights={ATTENTION: weights},
        reweigh=lambda by_name: predict(repeat(by_name[ATTENTION]), fixed_weights=by_name[ATTENTION]),
        **options,
    )


def _as_edits(weights: Tensor | None) -> Edits:
    return () if weights is None else (BatchWeights(weights),)


@_with_plain_tensors
def mask_subject(model: FeatureMask, picture: Tensor) -> Subject:
    """Return the subject of the soft mask over features and a picture (60, 60); a unit is a region, erased as a key."""
    features = model.features(picture[None, None]).flatten(2).transpose(1, 2).contiguous()
    query = model.query[None, None, None]

    def predict(keys: Tensor, mask: Tensor | None = None, fixed_weights: Tensor | None = None) -> Tensor:
        queries, regions = query.expand(len(keys), -1, -1, -1), keys[:, None]
        context = attend(queries, regions, regions, score=Dot(), mask=mask, edits=_as_edits(fixed_weights)).context
        return answers_of(model.classify(context[:, 0, 0]))

    unit_of = torch.arange(features.shape[1], device=features.device)
    weights = model(picture[None]).weights[0][None].clone()
    return _subject_of_keys(predict, features[0], unit_of, weights, lambda erased: ~erased[:, None, None])


@_with_plain_tensors
def greyed_photo_subject(model: PhotoNetwork, photograph: Tensor, weights: Tensor, row: int) -> Subject:
    """Return the subject of a class and a photograph (3, height, width), which the network names without a question.

    The map is of a question's weights (rows, columns), which the network does not know; a unit is a region, and becomes
    grey. The answer is the probability of the class alone, so that it counts where another is likelier, too.
    """
    regions = torch.arange(weights.numel(), device=photograph.device).view(1, 1, *weights.shape)
    unit_of = F.interpolate(regions.float(), photograph.shape[1:]).flatten().long()
    pixels, grey = photograph.flatten(1).T.contiguous(), torch.full((1, 3), GREY, device=photograph.device)

    def predict(pixels: Tensor) -> Tensor:
        photographs = pixels.transpose(1, 2).reshape(-1, *photograph.shape)
        logits = torch.cat(
            [model(one).logits for one in photographs.split(1)]
        )  # together they take memory, no less time
        return answers_of(logits)[..., [row]]

    erase = eraser(predict, pixels, grey, unit_of)
    return Subject(pixels, grey, unit_of, predict, erase, {}, _without_weights, map_values=weights.flatten())


def _without_weights(_: Mapping[str, Tensor]) -> Tensor:
    raise ValueError("Without a question a photograph has no weights to change.")


@_with_plain_tensors
def photo_subject(
    model: PhotoNetwork, features: Tensor, query: Tensor, scale: float | None, temperature: float
) -> Subject:
    """Return the subject of a query (d,) to a photograph's regions (n, d); a unit is a region, erased as a key."""
    score = Scaled(Dot(), scale, temperature)

    def predict(keys: Tensor, mask: Tensor | None = None, fixed_weights: Tensor | None = None) -> Tensor:
        queries, regions = query.expand(len(keys), 1, 1, -1), keys[:, None]
        context = attend(queries, regions, regions, score=score, mask=mask, edits=_as_edits(fixed_weights)).context
        return answers_of(model.classify(context[:, 0, 0]))

    unit_of = torch.arange(len(features), device=features.device)
    scores = features @ query * (len(query) ** -0.5 if scale is None else scale) / temperature
    weights = scores.softmax(0)[None, None]
    return _subject_of_keys(predict, features, unit_of, weights, lambda erased: ~erased[:, None, None])


@_with_plain_tensors
def reading_subject(model: DigitReader, picture: Tensor) -> Subject:
    """Return the subject of the reader and a picture (48, 192); a unit is a block of regions, erased as keys.

    Every look has an answer, the end included.
    """
    regions = model.encode(picture[None])
    n_rows, n_columns = model.grid
    row, column = torch.meshgrid(torch.arange(n_rows), torch.arange(n_columns), indexing="ij")
    n_blocks = math.ceil(n_columns / BLOCK_SIDE)  # in a row
    unit_of = (row // BLOCK_SIDE * n_blocks + column // BLOCK_SIDE).flatten().to(regions.device)
    prediction = model(picture[None])
    final_steps = (prediction.logits[0].argmax(-1) == END).nonzero()
    n_looks = int(final_steps[0]) + 1 if len(final_steps) else prediction.logits.shape[1]

    def predict(keys: Tensor, mask: Tensor | None = None, fixed_weights: Tensor | None = None) -> Tensor:
        return answers_of(model.looks(keys, n_looks, _as_edits(fixed_weights), mask).logits)

    weights = prediction.weights[:1, :n_looks].clone()
    return _subject_of_keys(predict, regions[0], unit_of, weights, lambda erased: ~erased[:, unit_of][:, None, None])


@_with_plain_tensors
def question_subject(model: SceneQuestion, picture: Tensor, word_ids: Sequence[int]) -> Subject:
    """Return the subject of a question about a picture (4, 64, 64); a unit is a region, erased as a key.

    Scores are dot products. The gradient is of the regions' keys and values, side by side. The empty key stays.
    """
    encoded = model.encode_pictures(picture[None])
    question = model.encode_questions(torch.tensor([list(word_ids)], device=picture.device))
    inputs, width = torch.cat(encoded, -1)[0], encoded[0].shape[2]

    def predict(features: Tensor, mask: Tensor | None = None, fixed_weights: Tensor | None = None) -> Tensor:
        keys_and_values: Any = features.split(width, -1)
        questions: Any = tuple(states.expand(len(features), *states.shape[1:]) for states in question)
        output = model.reason(keys_and_values, questions, "dot", mask=mask, fixed_weights=fixed_weights)
        return answers_of(output.logits)

    weights = model.reason(encoded, question, "dot").weights.clone()  # (1, n_looks, n + 1)
    return _subject_of_keys(predict, inputs, _all_units_but_the_last(inputs), weights, _mask_without)


def _all_units_but_the_last(rows: Tensor) -> Tensor:
    """Return a unit for every row but the last, such as the empty key, which is never erased."""
    return torch.tensor([*range(len(rows) - 1), -1], device=rows.device)


def _mask_without(erased: Tensor) -> Tensor:
    """Return the mask (n, 1, 1, n_regions + 1) of regions that are not erased, (n, n_regions); the empty key stays."""
    return ~torch.cat((erased, torch.zeros_like(erased[:, :1])), 1)[:, None, None]


@_with_plain_tensors
def caption_subject(model: SceneCaption, picture: Tensor) -> Subject:
    """Return the subject of a description of a picture (4, 64, 64); a unit is a region, erased as a key.

    Every word of the description has an answer, the end included, given those before it. The gradient is of the
    regions' keys and values, side by side. The empty key stays.
    """
    n_before = model.config.n_glances - 1
    predicted = model(picture[None]).logits[0, n_before:].argmax(-1)
    n_steps = [*predicted.tolist(), CAPTION_END].index(CAPTION_END) + 1
    caption = torch.cat((predicted.new_full((n_before + 1,), CAPTION_START), predicted[: n_steps - 1]))
    inputs = torch.cat(model.encode_pictures(picture[None]), -1)[0]
    width = inputs.shape[1] // 2

    def decode(features: Tensor, mask: Tensor | None = None, fixed_weights: Tensor | None = None) -> list[DecoderStep]:
        encoded = features[..., :width], features[..., width:]
        steps = model.looks(encoded, caption.expand(len(features), -1), _as_edits(fixed_weights), mask)
        return list(islice(steps, len(caption)))

    def predict(features: Tensor, mask: Tensor | None = None, fixed_weights: Tensor | None = None) -> Tensor:
        return answers_of(torch.stack([step.logits for step in decode(features, mask, fixed_weights)[n_before:]], 1))

    weights = torch.stack([step.weights for step in decode(inputs[None])], 1)
    return _subject_of_keys(predict, inputs, _all_units_but_the_last(inputs), weights, _mask_without)


@_with_plain_tensors
def next_piece_subject(model: RecurrentLanguage, ids: Tensor) -> Subject:
    """Return the subject of the piece that a recurrent network with attention predicts after others, int64 (n,).

    A unit is a piece; erased, it has the mean vector of all pieces. The last one stays.
    """
    inputs = model.embedding(ids).clone()
    mask = earlier(inputs)[:, -1:]

    def read(vectors: Tensor, fixed_weights: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        states = model.gru(vectors)[0]
        query, keys, values = model.query(states[:, -1:])[:, None], model.key(states)[:, None], states[:, None]
        attended = attend(query, keys, values, mask=mask, edits=_as_edits(fixed_weights), with_weights=True)
        merged = model.merge(torch.cat((states[:, -1:], attended.context[:, 0]), -1))
        return answers_of(merged @ model.embedding.weight.T + model.bias), attended.weights

    baseline = model.embedding.weight.mean(0, keepdim=True)
    unit_of = _all_units_but_the_last(ids)
    return Subject(
        inputs=inputs,
        baseline=baseline,
        unit_of=unit_of,
        predict=lambda vectors: read(vectors)[0],
        erase=eraser(lambda vectors: read(vectors)[0], inputs, baseline, unit_of),
        weights={ATTENTION: read(inputs[None])[1][0].clone()},  # type: ignore[index]
        reweigh=lambda by_name: read(inputs.expand(len(by_name[ATTENTION]), -1, -1), by_name[ATTENTION])[0],
    )


@_with_plain_tensors
def match3_subject(model: Match3Head, numbers: Sequence[int], seeker: int, names: Sequence[str] = ()) -> Subject:
    """Return the subject of one number, the seeker, that attends to others, alone or in pairs; they are erased as keys.

    A unit is one of the other numbers; a pair belongs to two units. Names are those of all numbers.
    """
    device, n = device_of(model), len(numbers)
    inputs = model.vectors[torch.tensor([*numbers, MODULUS], device=device)].clone()  # the last one stands for nobody
    unit_of = torch.arange(n + 1, device=device)
    unit_of = (unit_of - (unit_of > seeker).long()).masked_fill((unit_of == seeker) | (unit_of == n), -1)
    is_in_unit = torch.nn.functional.one_hot(unit_of + 1, n)[:, 1:].T.to(inputs)  # (n_units, n + 1)
    is_pair_in_unit = (is_in_unit[:, :, None] + is_in_unit[:, None]).clamp(max=1)  # (n_units, n + 1, n + 1)
    mask = model.allowed(n).to(device)[seeker]

    def attend_to(vectors: Tensor, visible: Tensor | None, fixed_weights: Tensor | None) -> AttentionOutput:
        key, value, key_mask = model.key(vectors)[:, None], model.value(vectors)[:, None], mask
        if visible is not None:
            key_mask = mask & (visible[:, None] & visible[..., None] if model.config.pairs else visible)
        if model.config.pairs:
            key, value = pair_products(key, key), pair_products(value, value)
        query, key_mask = model.query(vectors[:, seeker, None])[:, None], key_mask.view(-1, 1, 1, key.shape[2])
        return attend(query, key, value, mask=key_mask, edits=_as_edits(fixed_weights), with_weights=True)

    def predict(vectors: Tensor, visible: Tensor | None = None, fixed_weights: Tensor | None = None) -> Tensor:
        context = attend_to(vectors, visible, fixed_weights).context[:, 0]
        return answers_of(model.read_out(torch.cat((vectors[:, seeker, None], context), -1)))

    return _subject_of_keys(
        predict,
        inputs,
        unit_of,
        attend_to(inputs[None], None, None).weights[0].clone(),  # type: ignore[index]
        lambda erased: (erased.to(is_in_unit) @ is_in_unit) == 0,
        names=[name for index, name in enumerate(names) if index != seeker],
        key_units=is_pair_in_unit.flatten(1) if model.config.pairs else is_in_unit,
    )


@_with_plain_tensors
def sentence_subject(model: SentenceClassifier | TwoPhaseClassifier, words: Sequence[str]) -> Subject:
    """Return the subject of a classifier of sentences and a sentence; a unit is a word, erased by leaving it out.

    The gradient is of the words' vectors; its baseline is that of the unknown word.
    """
    device, reader = device_of(model), model.guide if isinstance(model, TwoPhaseClassifier) else model

    def pieces(remaining: Sequence[str]) -> Tensor:
        return pieces_of([word.lower() for word in remaining])[0].to(device)

    all_pieces = pieces(words)
    encoding = reader.encode(all_pieces[None])
    weights = _weights(reader.queries(1), encoding.states[:, None], reader.score())

    def values(embedded: Tensor, states: Tensor) -> Tensor:
        return (model.read(embedded).tanh() if isinstance(model, TwoPhaseClassifier) else states)[:, None]

    def answer(context: Tensor) -> Tensor:
        return answers_of(model.answer(context[:, 0, 0]))

    def predict(embedded: Tensor) -> Tensor:
        states = reader.encoder(embedded)[0]
        query, value = reader.queries(len(embedded)), values(embedded, states)
        return answer(attend(query, states[:, None], value, score=reader.score()).context)

    def erase(erased: Tensor) -> Tensor:
        empty = torch.full_like(all_pieces[:1], PAD)
        empty[0, 0] = UNKNOWN  # no words are no evidence: one that is not known
        remaining = (list(compress(words, row)) for row in (~erased).tolist())
        batch, mask = batch_of([pieces(sentence) if sentence else empty for sentence in remaining])
        return answers_of(model(batch.to(device), mask.to(device)).logits)

    unknown = reader.vectors.table.weight[UNKNOWN].expand(1, -1)
    all_values, unit_of = values(encoding.embedded, encoding.states), torch.arange(len(words), device=device)
    return Subject(
        inputs=encoding.embedded[0].clone(),
        baseline=unknown.clone(),
        unit_of=unit_of,
        predict=predict,
        erase=erase,
        weights={ATTENTION: weights},
        reweigh=lambda by_name: answer(by_name[ATTENTION] @ all_values),
        names=words,
        erase_otherwise=eraser(predict, encoding.embedded[0], unknown, unit_of),
        erase_leaves_out=True,
    )


@_with_plain_tensors
def translation_subject(
    model: Translator | Transformer, source: Tensor, target: Tensor, word_of: Sequence[int], words: Sequence[str] = ()
) -> Subject:
    """Return the subject of a translator: source pieces (n_source,), the end last, and its translation (n_target,).

    Every piece of the translation has an answer, given those before it. A unit is a word of the source; erased, its
    pieces become the unknown one, so that positions stay; erase_otherwise leaves it out. The end piece stays. The map
    of a transformer is that of its cross-attentions, from "cross 1" on.
    """
    device, n_words = source.device, max(word_of)
    unit_of = torch.tensor([word if word < n_words else -1 for word in word_of], device=device)
    decoder_input = torch.cat((source.new_tensor([START]), target[:-1]))

    def decode(vectors: Tensor) -> Tensor:
        return answer(model.encode_vectors(vectors), len(vectors))

    def answer(encoding: Any, n: int, edits: Any = None) -> Tensor:
        features = model.decode(encoding, decoder_input.expand(n, -1), *([edits] if edits else []))[0]
        return answers_of(model.logits(features))

    def reweigh(by_name: Mapping[str, Tensor]) -> Tensor:
        n = len(next(iter(by_name.values())))
        edits: Any = {name: (BatchWeights(weights),) for name, weights in by_name.items()}
        if not isinstance(model, Transformer):
            return answer(_repeated(encoding, n), n, edits[ATTENTION])
        edits = {_parse_name(name): edit for name, edit in edits.items()}
        if any(kind not in (CROSS, DECODER) for kind, _ in edits):
            return answer(model.encode_vectors(inputs.expand(n, -1, -1), edits), n, edits)
        return answer(_repeated(encoding, n), n, edits)

    def leave_out(erased: Tensor) -> Tensor:
        remains = ~erased[:, unit_of.clamp(min=0)] | (unit_of < 0)
        lengths = remains.sum(1)
        probabilities = decode(inputs[None]).repeat(len(remains), 1, 1)
        for n in lengths.unique().tolist():  # one batch for each length
            rows = lengths == n
            vectors = inputs.expand(len(remains), -1, -1)[rows][remains[rows]]
            probabilities[rows] = decode(vectors.view(-1, n, inputs.shape[1]))
        return probabilities

    inputs = model.embedding(source).clone()
    baseline = model.embedding.weight[UNKNOWN_PIECE].expand(1, -1).clone()
    encoding: Any = model.encode(source[None])  # which attentions of the decoder leave as it is
    weights, stack = _translator_layers(model, encoding, decoder_input)
    return Subject(
        inputs=inputs,
        baseline=baseline,
        unit_of=unit_of,
        predict=decode,
        erase=eraser(decode, inputs, baseline, unit_of),
        weights=weights,
        reweigh=reweigh,
        names=words,
        map_attentions=[name for name in weights if name.startswith((CROSS, ATTENTION))],
        stack=stack,
        erase_otherwise=leave_out,
    )


def single_vector_subject(
    model: Translator, source: Tensor, target: Tensor, word_of: Sequence[int], words: Sequence[str], shares: Tensor
) -> Subject:
    """Return the subject of a translator without attention; its map is each word's share of the one vector.

    Shares are (n_words,), or longer: only those of the units count.
    """
    subject = translation_subject(model, source, target, word_of, words)
    values = shares[: subject.n_units].to(source.device)
    return replace(subject, weights={}, map_attentions=(), map_name="share of the one vector", map_values=values)


def _parse_name(name: str) -> tuple[str, int]:
    """Return kind and layer of an attention, ("cross", 0) for "cross 1"."""
    kind, number = name.split()
    return kind, int(number) - 1


def _repeated(encoding: Any, n: int) -> Any:
    """Return what one sentence's encoding is to the decoder, n times in a batch."""
    if isinstance(encoding, Tensor):
        return encoding.expand(n, *encoding.shape[1:])
    if isinstance(encoding, TransformerEncoding):
        memories = tuple(KeyValueMemory(*(_repeated(part, n) for part in memory)) for memory in encoding.memories)
        return TransformerEncoding(_repeated(encoding.states, n), (), memories)
    return SourceEncoding(*(_repeated(part, n) for part in encoding))


def _translator_layers(
    model: Translator | Transformer, encoding: Any, decoder_input: Tensor
) -> tuple[dict[str, Tensor], dict[str, StackLayer]]:
    """Return the weights of all attentions by name, and a transformer's layers."""
    if not isinstance(model, Transformer):
        query, key = model.decode(encoding, decoder_input[None])[1], model.keys(encoding)
        return {ATTENTION: _weights(query[:, None], key[:, None], model.score())}, {}
    _, self_attentions, cross_attentions = model.decode(encoding, decoder_input[None])
    weights, stack = {}, {}
    by_kind = {"encoder": (encoding.activations, model.encoder)}
    by_kind |= {DECODER: (self_attentions, model.decoder), CROSS: (cross_attentions, model.decoder)}
    for kind, (activations, layers) in by_kind.items():
        for number, (activation, layer) in enumerate(zip(activations, layers, strict=True)):
            name, memory = f"{kind} {number + 1}", activation.memory
            weights[name] = _weights(activation.query, memory.key, mask=activation.mask)
            if kind != DECODER:
                merge = activation.layer.merge.weight.T.unflatten(0, (len(weights[name]), -1))
                contributions = torch.einsum("hqk,hkd,hde->qke", weights[name], memory.value[0], merge)
                finish: Any = partial(_layer_output, layer, activation.before)  # type: ignore[arg-type]
                stack[name] = StackLayer(contributions, activation.output[0], finish)
    return weights, stack


def _layer_output(layer: EncoderLayer, before: Tensor, output: Tensor) -> Tensor:
    """Return what a layer makes of the output of its attention and the residual stream before it."""
    x = before + output
    return x + layer.feed_forward(layer.forward_norm(x))


def _weights(query: Tensor, key: Tensor, score: Score | None = None, mask: Tensor | None = None) -> Tensor:
    """Return the weights of a batch's first item, (n_heads, n_queries, n_keys)."""
    return attend(query, key, key, score=score, mask=mask, with_weights=True).weights[0].clone()  # type: ignore[index]
