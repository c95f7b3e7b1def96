"""Do maps point at what answers need? python -m attention_core.evaluate faithfulness MODEL [--json --card].

Inputs that no training saw are erased in the order of attention, of gradient x input and at random: the smaller the
area under the curve of the answer's probability, the better the order.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import islice
from math import sqrt
from typing import Any

import torch

from attention_core.data.language_pieces import WINDOW, tokenizer
from attention_core.data.match3 import fresh_sequences
from attention_core.data.mnist import load_mnist
from attention_core.data.photographs import load_photographs
from attention_core.data.pieces import english_sentences, read_pairs, split_pairs
from attention_core.data.questions import QuestionKind, question_words, word_ids_of
from attention_core.data.review_pieces import read_reviews, split_reviews
from attention_core.data.scenes import MAX_DIGITS, find_scenes, glyphs_of, number_scenes
from attention_core.device import choose_device
from attention_core.evaluate.classification import as_tensors
from attention_core.evaluate.photographs import greyed_photo_subject
from attention_core.evaluate.translation import group_references
from attention_core.evaluate.vision import QuestionSet, ask_at_random
from attention_core.faithfulness import attribution, subjects
from attention_core.faithfulness.assessment import RANDOM, over_many, three_orders
from attention_core.faithfulness.model_subject import model_subject
from attention_core.faithfulness.variation import shuffled
from attention_core.hub.model import ModelKind, Pretrained
from attention_core.hub.run import ModelInputs, text_inputs
from attention_core.inference.photographs import ask_photograph, class_query, encode_photograph, photo_names
from attention_core.inference.sentiment import read_sentence
from attention_core.inference.translation import read_source, translate
from attention_core.inference.word_influence import last_state_shares
from attention_core.models import MODELS, load
from attention_core.models.digit_vit import GRID
from attention_core.weights import read_card, weights_folder

N_INPUTS = 500
N_SHUFFLED = 8  # orders of the keys for each input
SEED = 31
SURE = 1.96  # standard errors of a mean on each side that hold it in 95 of a hundred cases


def _digits(model: Any, data: str | None, device: str, n: int) -> Iterator[attribution.Subject]:
    images, _ = as_tensors(load_mnist("t10k", data), device)
    return (subjects.pixel_subject(model, image / 255) for image in _sample(images, n))


def _hidden(model: Any, data: str | None, device: str, n: int) -> Iterator[attribution.Subject]:
    scenes = find_scenes(glyphs_of(load_mnist("t10k", data)), n, torch.Generator().manual_seed(SEED))
    return (subjects.mask_subject(model, picture.to(device)) for picture in scenes[0])


def _numbers(model: Any, data: str | None, device: str, n: int) -> Iterator[attribution.Subject]:
    scenes = number_scenes(glyphs_of(load_mnist("t10k", data)), n, torch.Generator().manual_seed(SEED))
    return (subjects.reading_subject(model, picture.to(device)) for picture in scenes[0])


def _reviews(model: Any, data: str | None, device: str, n: int) -> Iterator[attribution.Subject]:
    reviews = _sample(split_reviews(read_reviews(data)).development, n)
    return (subjects.sentence_subject(model, read_sentence(review.sentence).words) for review in reviews)


def _drawings(data: str | None, n: int) -> QuestionSet:
    return ask_at_random(glyphs_of(load_mnist("t10k", data)), [*QuestionKind], SEED, n, (1, MAX_DIGITS), "cpu")


def _questions(model: Any, data: str | None, device: str, n: int) -> Iterator[attribution.Subject]:
    pictures, questions, of_picture, _ = _drawings(data, n)
    for question, index in _sample([*zip(questions, of_picture, strict=True)], n):
        words = word_ids_of(question_words(question.text))
        yield subjects.question_subject(model, pictures[index].to(device), words)


def _photographs(model: Any, data: str | None, device: str, n: int) -> Iterator[attribution.Subject]:
    for photograph in load_photographs().values():
        photo = encode_photograph(model, photograph.content)
        for row in map(photo_names().index, photograph.classes):
            weights = ask_photograph(model, photo, class_query(model, row)).weights().view(photo.grid)
            yield greyed_photo_subject(model, photograph.content, weights, row)


def _patches(model: Any, data: str | None, device: str, n: int) -> Iterator[attribution.Subject]:
    images, _ = as_tensors(load_mnist("t10k", data), device)
    pretrained = Pretrained("digit-vit", ModelKind.VISION, model.vit)
    for image in _sample(images, n):
        inputs = {"pixel_values": 1 - 2 * (image[None, None] / 255)}
        yield model_subject(pretrained, ModelInputs(inputs, (), patch_grid=GRID, n_prefix=1))


def _parties(model: Any, data: str | None, device: str, n: int) -> Iterator[attribution.Subject]:
    return (subjects.match3_subject(model, numbers, 0) for numbers in fresh_sequences(n, SEED).numbers.tolist())


def _next_words(model: Any, data: str | None, device: str, n: int) -> Iterator[attribution.Subject]:
    pretrained = Pretrained("tatoeba-llama", ModelKind.DECODER, model, tokenizer(), max_tokens=WINDOW)
    texts = _sample(english_sentences(data).test, n)
    return (model_subject(pretrained, text_inputs(pretrained, text)) for text in texts)


def _next_pieces(model: Any, data: str | None, device: str, n: int) -> Iterator[attribution.Subject]:
    for text in _sample(english_sentences(data).test, n):
        ids = torch.tensor(tokenizer()(text)["input_ids"][:WINDOW], device=device)
        yield subjects.next_piece_subject(model, ids)


def _descriptions(model: Any, data: str | None, device: str, n: int) -> Iterator[attribution.Subject]:
    return (subjects.caption_subject(model, picture.to(device)) for picture in _drawings(data, n)[0])


def _single_vector(model: Any, data: str | None, device: str, n: int) -> Iterator[attribution.Subject]:
    for source, ids, target, word_of, words in _translations(model, data, device, n):
        yield subjects.single_vector_subject(model, ids, target, word_of, words, last_state_shares(model, source))


def _sentences(model: Any, data: str | None, device: str, n: int) -> Iterator[attribution.Subject]:
    return (subjects.translation_subject(model, *pair) for _, *pair in _translations(model, data, device, n))


def _translations(model: Any, data: str | None, device: str, n: int) -> Iterator[tuple[Any, ...]]:
    for text in _sample(list(group_references(split_pairs(read_pairs(data)).test)), n):
        source = read_source(text)
        target = torch.tensor(translate(model, source).ids, device=device)
        yield source, source.ids.to(device), target, source.word_of, source.words


def _sample(items: Any, n: int) -> list[Any]:
    order = torch.randperm(len(items), generator=torch.Generator().manual_seed(SEED))[:n]
    return [items[index] for index in order.tolist()]


INPUTS: dict[str, Callable[[Any, str | None, str, int], Iterator[attribution.Subject]]] = {
    **dict.fromkeys(("pixel-classifier", "pixel-notes", "pixel-notes-ink"), _digits),
    "feature-mask": _hidden,
    "digit-reader": _numbers,
    "scene-question": _questions,
    "photo-classifier": _photographs,
    "digit-vit": _patches,
    **dict.fromkeys(("scene-caption", "scene-caption-together"), _descriptions),
    **dict.fromkeys(("sentence-attention", "sentence-two-phase"), _reviews),
    **dict.fromkeys(("match3-pairwise", "match3-simplicial"), _parties),
    "tatoeba-llama": _next_words,
    "language-recurrent": _next_pieces,
    **dict.fromkeys(("translator-none", "translator-plain"), _single_vector),
    **{f"translator-{name}": _sentences for name in ("additive", "dot", "input-feeding", "transformer")},
}
"""Models with a map over an input whose parts can be erased, and inputs that they never learned from."""
NAMES_OF_INPUTS = {
    **dict.fromkeys(("sentence-attention", "sentence-two-phase"), "sentences for development"),
    "photo-classifier": "questions to twenty photographs",
}
"""In sentences; the others are held-out inputs."""
WITHOUT = {
    **dict.fromkeys(("ffn-classifier", "language-recurrent-alone", "pixel-notes-alone"), "it has no attention"),
    **dict.fromkeys(
        ("feature-mean", "pixel-notes-self", "pixel-notes-uniform", "sentence-mean", "translator-mean"),
        "its weights are the same whatever the input",
    ),
    "pixel-notes-product": "its weights have no softmax, so that they are no shares",
    **dict.fromkeys(
        ("match3-one-layer", "match3-two-layers", *(name for name in MODELS if name.startswith("next-word-"))),
        "it shows what a mask or a second layer does, and its maps are not offered as an explanation",
    ),
    "scoring-functions": "its answer is the largest of its weights, so that its map is its answer",
}
"""Why the others have no map that could be wrong."""


def faithfulness(name: str, data: str | None = None, device: str = "cpu", n: int = N_INPUTS) -> dict[str, Any]:
    """Return areas of deletion with intervals (95 %), how often attention beats random order, and what shuffling does.

    Raises:
        DataError: the data are missing or damaged.
        WeightsError: the model's weights are.
        ValueError: the model has no map that could be wrong.
    """
    if name in WITHOUT:
        raise ValueError(f"There is nothing to measure for {name}: {WITHOUT[name]}.")
    model = load(name, device)
    areas: dict[str, list[float]] = defaultdict(list)
    agreements, moves, name_of_map = [], [], attribution.ATTENTION
    for subject in islice(INPUTS[name](model, data, device, n), n):
        name_of_map = subject.map_name
        for order, curve in attribution.curves_of(subject, three_orders(subject)).items():
            areas[order].append(curve.area)
        agreements.append(attribution.kendall_tau(subject.received, attribution.removal(subject)))
        if subject.weights:
            moves.append(float(shuffled(subject, N_SHUFFLED).median()))
    better = [ours < chance for ours, chance in zip(areas[name_of_map], areas[RANDOM], strict=True)]
    figures = {
        "n": len(better),
        "area_of_deletion": {order: _mean(values) for order, values in areas.items()},
        "attention_beats_random": round(sum(better) / len(better), 3),
        "tau_of_attention_and_removal": _mean(agreements),
        **({"moved_by_shuffling": _mean(moves)} if moves else {}),
        **({"inputs": NAMES_OF_INPUTS[name]} if name in NAMES_OF_INPUTS else {}),
    }
    return figures | {"in_words": over_many(figures)}


def _mean(values: list[float]) -> list[float]:
    column = torch.tensor(values, dtype=torch.float64)
    half = SURE * float(column.std(correction=1)) / sqrt(len(values)) if len(values) > 1 else 0.0
    return [round(float(column.mean()), 4), round(half, 4)]


def main(arguments: list[str]) -> dict[str, Any]:
    """Evaluate as the command line says; --card writes the figures into the model's card."""
    parser = argparse.ArgumentParser(prog="python -m attention_core.evaluate faithfulness", description=__doc__)
    parser.add_argument("model", choices=sorted(MODELS))
    parser.add_argument("--n", type=int, default=N_INPUTS, help="how many inputs")
    parser.add_argument("--data", help="folder of the data sets, else the variable ATTENTION_DATA")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--card", action="store_true", help="write the figures into the model's card")
    options = parser.parse_args(arguments)
    figures = faithfulness(options.model, options.data, choose_device(options.device), options.n)
    if options.card:
        card = read_card(options.model) | {"faithfulness": figures}
        (weights_folder() / f"{options.model}.json").write_text(json.dumps(card, indent=2) + "\n")
    result = {"model": options.model, **figures}
    print(json.dumps(result) if options.json else "\n".join(f"{key}: {value}" for key, value in result.items()))
    return result
