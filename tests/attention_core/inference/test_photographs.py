"""Asking a photograph: what is brought back, what an answer is held against, and every line of its steps."""

from io import BytesIO

import numpy as np
import pytest
import torch
from PIL import Image
from torch.testing import assert_close

from attention_core.attention.edits import UNIFORM, BlockKeys
from attention_core.data.colours import name_colour
from attention_core.data.photographs import load_photographs
from attention_core.faithfulness.subjects import photo_subject
from attention_core.hub.pictures import read_picture
from attention_core.inference import photographs as photo_module
from attention_core.inference.photographs import (
    MAX_LENGTH,
    ask_all,
    ask_photograph,
    class_query,
    controls,
    encode_photograph,
    first_glance,
    name_photograph,
    photo_names,
    region_query,
    scale_photograph,
    show_mixture,
    stored_meanings,
    word_query,
)
from attention_core.inference.soft_lookup import SPELLING, sentence_vectors
from attention_core.models import load
from tests.support.shown_code import check

NAMES = photo_names()
HELMET, WINE_BOTTLE = NAMES.index("football helmet"), NAMES.index("wine bottle")


@pytest.fixture(scope="module")
def model():
    return load("photo-classifier", "cpu")


@pytest.fixture(scope="module")
def astronaut(model):
    return encode_photograph(model, load_photographs()["astronaut"].content)


def file_of(width, height, picture_format="PNG", mode="RGB", colour="red"):
    file = BytesIO()
    Image.new(mode, (width, height), colour).save(file, picture_format)
    return file.getvalue()


def test_a_question_finds_its_thing_and_equal_weights_do_not(model, astronaut):
    trace = ask_photograph(model, astronaut, class_query(model, HELMET))
    assert astronaut.grid == trace.story.key_axis.grid == (14, 14)
    row, column = divmod(int(trace.weights()[0].argmax()), 14)
    assert (row >= 9, column >= 7) == (True, True)  # the helmet lies below, on the right
    assert name_photograph(model, trace)[0].argmax() == HELMET
    assert name_photograph(model, trace)[0, HELMET] > 0.9
    assert name_photograph(model, trace.replace(UNIFORM))[0, HELMET] < 0.1
    looked_at = tuple(trace.weights()[0].topk(60).indices.tolist())
    assert name_photograph(model, trace.replace((BlockKeys(looked_at),)))[0, HELMET] < 0.5
    gentle = ask_photograph(model, astronaut, class_query(model, HELMET), 4.0)
    assert gentle.weights().max() < trace.weights().max() / 2


def test_controls_say_what_an_answer_is_worth(model, astronaut):
    asked, space_shuttle = ask_all(model, astronaut), NAMES.index("space shuttle")
    helmet = controls(model, astronaut, asked, HELMET, [space_shuttle])
    trace = ask_photograph(model, astronaut, class_query(model, HELMET))
    assert helmet.attended == pytest.approx(float(name_photograph(model, trace)[0, HELMET]), abs=1e-5)
    assert helmet.equal == pytest.approx(float(name_photograph(model, trace.replace(UNIFORM))[0, HELMET]), abs=1e-5)
    assert helmet.best_score == pytest.approx(float(trace.scores().max()), abs=1e-4)
    assert helmet.equal < helmet.trained < helmet.attended
    assert helmet.control < helmet.attended
    assert 0 < helmet.absent_called < 0.02
    absent = controls(model, astronaut, asked, WINE_BOTTLE)
    assert absent.attended > 0.5  # attention finds what it is asked for, there or not
    assert absent.best_score < helmet.best_score
    gentle = controls(model, astronaut, ask_all(model, astronaut, 4.0), HELMET)
    assert gentle.absent_called < helmet.absent_called
    assert gentle.best_score == helmet.best_score


def test_a_word_becomes_a_mixture_of_classes(model, astronaut):
    query = word_query(model, "football helmets", SPELLING)
    assert query.nearest[0].name == "football helmet"
    assert query.row == HELMET
    assert query.nearest[0].cosine > photo_module.NEAR
    trace = ask_photograph(model, astronaut, query)
    assert trace.story.query_axis.labels == ["football helmets"]
    assert name_photograph(model, trace)[0].argmax() == HELMET
    assert word_query(model, "zzz", SPELLING).nearest[0].cosine < photo_module.NEAR
    exact = word_query(model, "football helmet", SPELLING)
    assert_close(exact.vector, class_query(model, HELMET).vector)


def test_stored_meanings_are_those_of_the_sentence_encoder_and_a_first_glance_names_what_is_there(model, minilm):
    stored = stored_meanings()
    assert list(stored)[:1000] == list(photo_names())
    texts = ["espresso", "wine bottle", "helmet"]
    assert_close(torch.stack([stored[text] for text in texts]), sentence_vectors(minilm, texts), atol=2e-3, rtol=0)
    assert "espresso" in first_glance(model, encode_photograph(model, load_photographs()["coffee"].content), 3)


def test_its_subject_answers_as_the_question_does(model, astronaut):
    query = class_query(model, HELMET)
    subject = photo_subject(model, astronaut.features, query.vector, query.scale, 4.0)
    trace = ask_photograph(model, astronaut, query, 4.0)
    assert_close(subject.probabilities(), name_photograph(model, trace), atol=1e-5, rtol=1e-4)
    assert_close(next(iter(subject.weights.values()))[0], trace.weights(), atol=1e-6, rtol=1e-4)


def test_a_region_asks_what_else_looks_like_it(model, astronaut):
    query = region_query(astronaut, 11 * 14 + 9)
    trace = ask_photograph(model, astronaut, query)
    assert query.row is None
    assert int(trace.weights()[0].argmax()) in {row * 14 + column for row in range(9, 14) for column in range(7, 14)}
    expected = astronaut.features[11 * 14 + 9] @ astronaut.features.T / 1280**0.5
    assert_close(trace.scores()[0], expected, atol=1e-3, rtol=1e-4)


def test_what_is_brought_back_need_not_be_the_key(model, astronaut):
    query = class_query(model, HELMET)
    colours = ask_photograph(model, astronaut, query, value="colour")
    assert_close(colours.weights(), ask_photograph(model, astronaut, query).weights())
    asked, equal = colours.context()[0], colours.replace(UNIFORM).context()[0]
    assert name_colour(asked) == "black"
    assert_close(equal, astronaut.picture.mean((1, 2)), atol=1e-4, rtol=0)
    mixture = show_mixture(ask_photograph(model, astronaut, query, value="patch"))
    assert mixture.shape == (32, 32, 3)
    assert np.abs(mixture.mean((0, 1)) / 255 - asked.numpy()).max() < 0.01


@pytest.mark.parametrize("value", ["class", "colour", "patch"])
def test_every_line_of_its_steps_gives_the_steps_numbers(model, astronaut, value):
    for query in (class_query(model, HELMET), word_query(model, "helmet", SPELLING), region_query(astronaut, 5)):
        check(ask_photograph(model, astronaut, query, 4.0, value))


@pytest.mark.parametrize(
    ("size", "side", "expected"),
    [
        ((600, 400), 448, (448, 672)),
        ((400, 600), 224, (352, 224)),
        ((1024, 10), 448, (448, 448 * MAX_LENGTH)),
        ((5, 5), 672, (672, 672)),
    ],
)
def test_a_photograph_is_scaled_to_whole_regions(size, side, expected):
    picture = scale_photograph(file_of(*size), side)
    assert tuple(picture.shape[1:]) == expected
    assert_close(picture[:, 3, 3], torch.tensor([1.0, 0, 0]))


def test_what_is_transparent_is_white_and_a_phones_photograph_stands_upright():
    assert scale_photograph(file_of(32, 32, mode="RGBA", colour=(0, 0, 0, 0)), 224).min() == 1
    image, file = Image.new("RGB", (400, 300), "blue"), BytesIO()
    image.paste("red", (0, 0, 200, 300))
    exif = Image.Exif()
    exif[0x0112] = 6  # it is to be turned to the right
    image.save(file, "JPEG", exif=exif)
    picture = scale_photograph(read_picture(file.getvalue()), 224)
    assert picture.shape[1] > picture.shape[2]
    assert picture[0, 5, 100] > 0.9
    assert picture[2, -5, 100] > 0.9
