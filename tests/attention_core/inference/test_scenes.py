"""Asking a scene question model: what it sees, what can be asked about a drawing, and answers about many drawings."""

import random

import numpy as np
import pytest

from attention_core.data.canvases import group_strokes
from attention_core.data.drawing import draw_paths
from attention_core.data.presets import SCENE_COLOURS, SCENES, PlacedDigit, random_digits, scene_strokes
from attention_core.data.questions import ANSWERS, Question, QuestionKind, format_question, question_words
from attention_core.data.scene_questions import TWO_STEPS, SceneDigit, answer, random_question
from attention_core.inference import scenes as ask
from attention_core.models import load

SIDE = 320


def canvas_of(strokes):
    canvas = np.full((SIDE, SIDE, 4), 255, np.uint8)
    for one in strokes:
        share = draw_paths([one.path], SIDE, one.width)[..., :1] / 255
        ink = [int(one.colour[place : place + 2], 16) for place in (1, 3, 5)]
        canvas[..., :3] = np.rint(canvas[..., :3] * share + np.array(ink) * (1 - share))
    return canvas


@pytest.fixture(scope="module")
def drawing():
    strokes = scene_strokes(SCENES["Five colours"], SIDE)
    return strokes, group_strokes(strokes, SIDE, "#FFFFFF"), ask.scene_input(canvas_of(strokes))


@pytest.mark.parametrize("scoring", ["dot", "additive"])
def test_the_trained_model_answers_nearly_all_examples_about_the_scenes(scoring):
    model, right = load("scene-question", "cpu"), []
    for scene in SCENES.values():
        picture = ask.scene_input(canvas_of(scene_strokes(scene, SIDE))).picture
        items = [SceneDigit(str(one.digit), one.colour, one.x, one.y) for one in scene]
        for question in (*ask.EXAMPLES, Question(QuestionKind.COUNT)):
            probabilities = model.explain(picture, question_words(format_question(question)), scoring).probabilities
            true = answer(question, items)
            right += [ANSWERS[int(probabilities.argmax())] == true[0]] if true else []
    assert np.mean(right) >= 0.85


def scattered(rng):
    """Six digits of several colours, each somewhere in its part of the drawing."""
    parts = [(x, y) for x in (0.2, 0.5, 0.8) for y in (0.25, 0.75)]
    return tuple(
        PlacedDigit(
            int(rng.integers(10)), str(rng.choice(SCENE_COLOURS)), *(np.array(part) + rng.uniform(-0.04, 0.04, 2))
        )
        for part in parts
    )


@pytest.mark.parametrize("scoring", ["dot", "additive"])
def test_the_trained_model_goes_two_steps_over_drawings_that_nobody_trained_it_on(scoring):
    model, rng, right, stops = load("scene-question", "cpu"), np.random.default_rng(3), [], []
    for number in range(25):
        scene = scattered(rng)
        picture = ask.scene_input(canvas_of(scene_strokes(scene, SIDE))).picture
        items = [SceneDigit(str(one.digit), one.colour, one.x, one.y) for one in scene]
        for kind in TWO_STEPS:
            example = random_question(items, random.Random(number), kind)
            if not example or not example.relevant:
                continue
            answered = model.explain(picture, question_words(example.text), scoring)
            right.append(ANSWERS[int(answered.probabilities.argmax())] == example.answer)
            for look, (place,) in zip(answered.looks, example.looks, strict=True):
                row, column = divmod(int(look.weights()[0, :-1].argmax()), 16)
                stops.append(np.hypot(column / 16 - scene[place].x, row / 16 - scene[place].y) < 0.2)
    assert len(right) >= 30
    assert np.mean(right) >= 0.85
    assert np.mean(stops) >= 0.8  # of all three looks, each at the digit that it is for


def as_items(placed):
    return [SceneDigit(str(digit), colour, x, y) for digit, colour, x, y in placed]


def test_every_proposed_question_and_the_guess_have_one_answer_about_the_drawing():
    scenes = [*SCENES.values(), *(random_digits(number, SIDE) for number in range(400))]
    proposed = [(question, items) for items in map(as_items, scenes) for question in ask.clear_questions(items)]
    assert all(answer(question, items)[1] for question, items in proposed)
    assert len(proposed) > 8 * len(scenes)
    assert [one.kind for one in ask.clear_questions(as_items(SCENES["Five colours"]))] == [
        one.kind for one in ask.EXAMPLES
    ]
    scribble = ask.clear_questions([SceneDigit("nothing", "red", 0.5, 0.5)])
    assert scribble
    assert {one.digit for one in scribble} == {None}, "no digit was read"
    assert ask.clear_questions([]) == [Question(QuestionKind.COUNT)]
    assert answer(ask.EXAMPLES[-1], as_items(SCENES["Five colours"]))[0] == "orange"


def test_a_drawing_s_digits_are_read_one_by_one():
    model = load("scene-question").eval()
    for scene in SCENES.values():
        strokes = scene_strokes(scene, SIDE)
        groups = group_strokes(strokes, SIDE, "#FFFFFF")
        pictures = [ask.scene_input(canvas_of([strokes[at] for at in one.strokes])).picture for one in groups]
        read = ask.read_digits(model, pictures, [(one.colour, one.box) for one in groups])
        for one, true in zip(read, as_items(scene), strict=True):
            assert one[:2] == true[:2]
            assert one[2:] == pytest.approx(true[2:], abs=0.02)
    assert ask.read_digits(model, [], []) == []
