"""Asking a photograph: a class's row in the classifier is the query, what the network saw in each region is the key."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import Literal, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor

from attention_core.attention.edits import Edits
from attention_core.attention.scores import Dot, Scaled
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Step, Story, read_texts
from attention_core.device import device_of
from attention_core.inference.soft_lookup import Encoder, Records, soft_lookup
from attention_core.models.features import regions
from attention_core.models.photo_network import CELL, PhotoNetwork
from attention_core.weights import read_beside, read_card, read_weights

TEXTS = read_texts(__file__)
SIDES = (224, 448, 672)
"""Pixels of a photograph's shorter side, for 7, 14 and 21 regions along it."""
SIDE = SIDES[1]
TRAINED_SIDE = SIDES[0]
"""Pixels of the shorter side that the network learned with."""
MAX_LENGTH = 3  # of the longer side in shorter ones; what is longer still is squeezed
NAME_TEMPERATURE = 0.05
"""Of the look-up that turns a word into classes."""
NEAR = 0.5
"""The cosine below which no name of a class is near a word."""
N_NEAREST = 3  # classes that are named for a word
MEANINGS = "photo-names"
"""The weights that are the vectors of the classes' names, and of a few words, by the sentence encoder."""
COLOURS = ("red", "green", "blue")
Value = Literal["class", "colour", "patch"]


def photo_names() -> tuple[str, ...]:
    """Return the names of the thousand classes, in the classifier's order."""
    return tuple(read_beside("names of the photo classifier", "photo-names.txt").split("\n")[:-1])


@cache
def stored_meanings() -> dict[str, Tensor]:
    """Return vectors (d,) of the classes' names and of a few words, as the sentence encoder gives them, by text."""
    vectors = read_weights(MEANINGS)["vectors"].double()
    return dict(zip([*photo_names(), *read_card(MEANINGS)["examples"]], F.normalize(vectors), strict=True))


@dataclass(frozen=True, eq=False)
class PhotoFeatures:
    """A photograph as the network sees it."""

    picture: Tensor  # (3, height, width), RGB in [0, 1]; height and width are multiples of CELL
    features: Tensor  # (n_regions, d), in reading order
    pooled: Tensor  # (d,), the mean of the regions of the same photograph as small as the network learned with

    @property
    def grid(self) -> tuple[int, int]:
        return self.picture.shape[1] // CELL, self.picture.shape[2] // CELL


def scale_photograph(content: bytes, side: int = SIDE) -> Tensor:
    """Return a picture's file, which read_picture has made harmless, as (3, height, width), RGB in [0, 1].

    The shorter side becomes `side` pixels, the other the nearest multiple of CELL; what is transparent becomes white.
    """
    return _scaled(_on_white(content), side)


def _on_white(content: bytes) -> Image.Image:
    image = Image.open(BytesIO(content)).convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")


def _scaled(image: Image.Image, side: int) -> Tensor:
    scale = side / min(image.size)
    width, height = (min(round(length * scale / CELL) * CELL, MAX_LENGTH * side) for length in image.size)
    pixels = np.array(image.resize((width, height), Image.Resampling.BICUBIC))
    return torch.from_numpy(pixels).permute(2, 0, 1).float() / 255


@torch.inference_mode()
def encode_photograph(model: PhotoNetwork, content: bytes, side: int = SIDE) -> PhotoFeatures:
    """Return what the network sees of a picture's file, see scale_photograph."""
    image = _on_white(content)
    picture, small = (_scaled(image, pixels).to(device_of(model)) for pixels in (side, TRAINED_SIDE))
    features = [regions(model.features(pixels[None]))[0] for pixels in (picture, small)]
    return PhotoFeatures(picture, features[0], features[1].mean(0))


@torch.inference_mode()
def first_glance(model: PhotoNetwork, photo: PhotoFeatures, n: int) -> list[str]:
    """Return the n likeliest classes of a photograph, named as in training: small, and without a question."""
    return [photo_names()[row] for row in model.classify(photo.pooled).topk(n).indices.tolist()]


class NearName(NamedTuple):
    """A class whose name is near a word."""

    row: int  # of the classifier
    name: str
    weight: float  # of all names' weights, which sum to 1
    cosine: float  # of the two meanings


@dataclass(frozen=True, eq=False)
class PhotoQuery:
    """What a photograph is asked."""

    label: str
    vector: Tensor  # (d,)
    step: Step  # how it comes about
    scale: float | None = 1.0  # of its scores; None = 1 / sqrt(d)
    nearest: tuple[NearName, ...] = ()  # classes that it is mixed of, the nearest first

    @property
    def row(self) -> int | None:
        """The class that judges the answer; None = a region asks."""
        return self.nearest[0].row if self.nearest else None


def class_query(model: PhotoNetwork, row: int) -> PhotoQuery:
    """Return the query of one class by its row in the classifier."""
    name = photo_names()[row]
    vector, axis = model.classify.weight[row], Axis("queries", [name])
    step = TEXTS["class query"].step(vector[None], axis, None, classify=model.classify, row=row)
    return PhotoQuery(name, vector, step, nearest=(NearName(row, name, 1.0, 1.0),))


@torch.inference_mode()
def word_query(model: PhotoNetwork, text: str, encoder: Encoder) -> PhotoQuery:
    """Return the query of a word: its class's or, if none has this name, all classes', mixed by how near names are."""
    names = photo_names()
    if text in names:
        return class_query(model, names.index(text))
    trace = soft_lookup(Records(names, names, "names", "names"), [text], NAME_TEMPERATURE, encoder)
    weights, cosines = trace.weights()[0], trace.scores()[0] * NAME_TEMPERATURE
    nearest = tuple(
        NearName(row, names[row], float(weights[row]), float(cosines[row]))
        for row in weights.topk(N_NEAREST).indices.tolist()
    )
    shares = weights.to(model.classify.weight)
    vector, axis = shares @ model.classify.weight, Axis("queries", [text])
    step = TEXTS["word query"].step(vector[None], axis, None, classify=model.classify, shares=shares)
    return PhotoQuery(text, vector, step, nearest=nearest)


def region_query(photo: PhotoFeatures, region: int) -> PhotoQuery:
    """Return the query of a region, which asks where the photograph is like itself.

    Its scores are divided by the square root of d: unlike the classifier's rows, no region has learned how long to be.
    """
    label = Axis.picture("regions", *photo.grid).labels[region]
    step = TEXTS["region query"].step(photo.features[[region]], Axis("queries", [label]), None, region=region)
    return PhotoQuery(label, photo.features[region], step, scale=None)


def ask_photograph(
    model: PhotoNetwork,
    photo: PhotoFeatures,
    query: PhotoQuery,
    temperature: float = 1.0,
    value: Value = "class",
    edits: Edits = (),
) -> AttentionTrace:
    """Return where a query looks in a photograph, and what it brings back from there.

    Its value is what a region is (the features), its mean colour (RGB in [0, 1]), or its patch (3 * CELL * CELL).
    """
    rows, columns = photo.grid
    axis, channels = Axis.picture("regions", rows, columns), Axis.numbered("channels", photo.features.shape[1])
    picture = photo.picture
    brought, brought_axis = photo.features, channels
    if value == "colour":
        brought, brought_axis = F.avg_pool2d(picture[None], CELL)[0].flatten(1).T, Axis("colours", COLOURS)
    elif value == "patch":
        brought, brought_axis = F.unfold(picture[None], CELL, stride=CELL)[0].T, Axis.numbered("pixels", 3 * CELL**2)
    key_text = TEXTS["key"].filled(rows=rows, columns=columns, d=len(channels))
    steps = [
        key_text.step(photo.features, axis, channels, picture=picture, network=model),
        query.step,
        TEXTS[value].step(brought, axis, brought_axis, picture=picture),
    ]
    trace = AttentionTrace(
        query=query.vector[None, None],
        key=photo.features[None],
        value=brought[None],
        score=Scaled(Dot(), query.scale, temperature),
        edits=edits,
        story=Story(
            mechanism="a question to the regions of a photograph",
            query_axis=query.step.row_axis,
            key_axis=axis,
            value_axis=brought_axis,
            steps_before=tuple(steps),
        ),
    )
    if value != "class":
        return trace
    names, photographs = Axis("classes", photo_names()), Axis("photographs", ["this photograph"])
    answer = TEXTS["answer"].step(name_photograph(model, trace), photographs, names, classify=model.classify)
    return trace.with_story(steps_after=(answer,))


@torch.inference_mode()
def name_photograph(model: PhotoNetwork, trace: AttentionTrace) -> Tensor:
    """Return the classes' probabilities (1, n_classes) of what a query brought back, whose value is "class"."""
    return model.classify(trace.context()).softmax(-1)


class AllQuestions(NamedTuple):
    """What a photograph answers each class's own query: computed once, it serves every question to the photograph."""

    attended: Tensor  # (n_classes,), the probability of the class
    control: Tensor  # (n_classes,), the same with the queries of all other classes, on average
    best_score: Tensor  # (n_classes,), not divided by the temperature


@torch.inference_mode()
def ask_all(model: PhotoNetwork, photo: PhotoFeatures, temperature: float = 1.0) -> AllQuestions:
    """Ask a photograph for every class."""
    scores = model.classify.weight @ photo.features.T
    answers = model.classify((scores / temperature).softmax(1) @ photo.features).softmax(1)  # (asked, answered)
    attended = answers.diagonal().clone()
    return AllQuestions(attended, (answers.sum(0) - attended) / (len(answers) - 1), scores.amax(1))


class Controls(NamedTuple):
    """What an answer has to be held against; probabilities of the class in question, if nothing else is said."""

    attended: float  # with its own query
    equal: float  # with all regions alike
    trained: float  # the same with the photograph as small as the network learned with
    control: float  # with the queries of all other classes, on average
    best_score: float  # not divided by the temperature
    absent_called: float  # share of the classes that are not there, and likelier than not with their own query


@torch.inference_mode()
def controls(
    model: PhotoNetwork, photo: PhotoFeatures, asked: AllQuestions, row: int, present: Sequence[int] = ()
) -> Controls:
    """Return what the answer for a class has to be held against; `present` are classes that the photograph has."""
    alike = model.classify(torch.stack([photo.features.mean(0), photo.pooled])).softmax(1)[:, row]
    is_absent = torch.ones(len(asked.attended), dtype=torch.bool, device=asked.attended.device)
    is_absent[[row, *present]] = False
    absent_called = (asked.attended[is_absent] > 0.5).float().mean()
    figures = asked.attended[row], *alike, asked.control[row], asked.best_score[row], absent_called
    return Controls(*map(float, figures))


def show_mixture(trace: AttentionTrace) -> np.ndarray:
    """Return what a query brought back, uint8 (CELL, CELL, 3), of a trace whose value is "patch"."""
    patch = trace.context()[0].reshape(3, CELL, CELL).permute(1, 2, 0)
    return (255 * patch).round().clamp(0, 255).byte().cpu().numpy()
