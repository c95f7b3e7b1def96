"""Composed scenes: the same from the same seed, boxes where the ink is, true answers to random questions."""

import random

import numpy as np
import pytest
import torch

from attention_core.data.mnist import Digits
from attention_core.data.questions import ANSWERS, NOTHING, Question, QuestionKind, pad_questions, parse_question
from attention_core.data.scene_questions import SceneDigit, answer, items_of, random_question, random_question_or_count
from attention_core.data.scenes import clutter, drawing_scenes, find_scenes, glyphs_of, number_scenes


@pytest.fixture(scope="module")
def glyphs():
    """Ten frames of different heights and widths, off the middle of their pictures."""
    images = np.zeros((10, 28, 28), np.uint8)
    for number in range(10):
        top, left, height, width = 3 + number % 3, 2 + number, 18 - number, 6 + number
        images[number, top : top + height, left : left + width] = 255
        images[number, top + 3 : top + height - 3, left + 2 : left + width - 2] = 0
    return glyphs_of(Digits(images, np.arange(10, dtype=np.uint8)))


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_glyphs_fill_their_pictures_whatever_the_digit_s_place_and_size(glyphs):
    drawn = glyphs.images > 127
    rows, columns = drawn.any(2).sum(1), drawn.any(1).sum(1)
    assert (torch.maximum(rows, columns) - 28).abs().max() <= 1
    torch.testing.assert_close(rows / torch.maximum(rows, columns), glyphs.extents[:, 0], rtol=0, atol=0.08)


@pytest.mark.parametrize("make", [find_scenes, number_scenes])
def test_a_seed_makes_the_same_scenes_again_and_another_one_others(glyphs, make):
    one, again, other = (make(glyphs, 5, generator(seed)) for seed in (1, 1, 2))
    for first, second in zip(one, again, strict=True):
        assert torch.equal(first, second)
    assert not torch.equal(one.pictures, other.pictures)


def test_a_found_digit_s_ink_fills_its_box_and_clutter_covers_other_places(glyphs):
    scenes = find_scenes(glyphs, 40, generator(), n_pieces=(0, 0))
    for picture, (box,) in zip(scenes.pictures, scenes.boxes, strict=True):
        rows, columns = ((picture > 0.3).any(axis).nonzero().flatten() for axis in (1, 0))
        found = torch.tensor([rows[0], columns[0], rows[-1] + 1, columns[-1] + 1]).float()
        assert (found - box).abs().max() < 2
        assert box.min() >= -1e-3
        assert box.max() <= 60 + 1e-3
    pieces = clutter(glyphs, 30, (8, 8), 60, generator())
    assert pieces.shape == (30, 60, 60)
    assert (pieces.amax((1, 2)) > 0).all()
    assert pieces.min() >= 0
    assert pieces.max() <= 1
    assert ((pieces > 0).sum((1, 2)) <= 8 * 64).all()


def test_numbers_stand_from_left_to_right_with_all_their_ink_in_their_boxes(glyphs):
    scenes = number_scenes(glyphs, 60, generator())
    assert scenes.pictures.shape == (60, 48, 192)
    counts = (scenes.labels >= 0).sum(1)
    assert set(counts.tolist()) == {1, 2, 3, 4, 5, 6}
    for labels, boxes, count in zip(scenes.labels, scenes.boxes, counts.tolist(), strict=True):
        middles = (boxes[:count, 1] + boxes[:count, 3]) / 2
        assert (middles.diff() > 0).all()
        assert (boxes[count:] == 0).all()
        assert (labels[count:] == -1).all()
        assert boxes[:count, :2].min() > -1
        assert boxes[:count, 2].max() < 49
        assert boxes[:count, 3].max() < 193
    scenes = number_scenes(glyphs, 30, generator(3))
    rows, columns = torch.arange(48)[:, None] + 0.5, torch.arange(192) + 0.5
    for picture, boxes in zip(scenes.pictures, scenes.boxes, strict=True):
        inside = torch.zeros(48, 192, dtype=torch.bool)
        for top, left, bottom, right in boxes.tolist():
            inside |= (rows > top - 2) & (rows < bottom + 2) & (columns > left - 2) & (columns < right + 2)
        assert picture[~inside].sum() < 0.02 * picture.sum()


def test_digits_without_ink_are_refused():
    with pytest.raises(ValueError, match="ink"):
        glyphs_of(Digits(np.zeros((1, 28, 28), np.uint8), np.zeros(1, np.uint8)))


SCENE = [
    SceneDigit("7", "red", 0.2, 0.2),
    SceneDigit("3", "blue", 0.8, 0.25),
    SceneDigit("3", "red", 0.25, 0.8),
    SceneDigit("5", "green", 0.8, 0.8),
]


@pytest.fixture(scope="module")
def drawings():
    images = np.zeros((10, 28, 28), np.uint8)
    for number in range(10):
        images[number, 4:24, 8 : 12 + number] = 255
    glyphs = glyphs_of(Digits(images, np.arange(10, dtype=np.uint8)))
    return drawing_scenes(glyphs, 60, torch.Generator().manual_seed(7))


@pytest.mark.parametrize(
    ("text", "said", "about"),
    [
        ("what digit is at the top left?", "7", (0,)),
        ("what colour is the 7?", "red", (0,)),
        ("how many red digits?", "2", (0, 2)),
        ("how many digits are there?", "4", (0, 1, 2, 3)),
        ("how many orange digits?", "0", ()),
        ("which digit is left of the blue one?", "7", (0,)),
        ("what colour is the digit below the 7?", "red", (2,)),
        ("is there a 3?", "yes", (1, 2)),
        ("is there a blue 7?", "no", ()),
        ("which digit is green?", "5", (3,)),
        ("which digit is above the 7?", NOTHING, ()),
        ("which digit is below the one left of the blue one?", "3", (2,)),
        ("what colour is the digit right of the one below the 7?", "green", (3,)),
        ("which digit is above the one left of the blue 3?", NOTHING, ()),
        ("which digit is left of the one above the 7?", NOTHING, ()),
    ],
)
def test_the_issue_s_questions_have_the_answers_that_anybody_would_give(text, said, about):
    assert answer(parse_question(text), SCENE) == (said, about)


@pytest.mark.parametrize(
    "question",
    [
        Question(QuestionKind.COLOUR_OF_DIGIT, digit="3"),
        Question(QuestionKind.DIGIT_OF_COLOUR, colour="red"),
        Question(QuestionKind.DIGIT_BESIDE, relation="left of", digit="3"),
        Question(QuestionKind.DIGIT_AT, place="left"),
        Question(QuestionKind.DIGIT_TWO_STEPS, relation="left of", digit="3", between="above"),
    ],
)
def test_what_people_could_dispute_is_not_asked(question):
    assert answer(question, SCENE) is None


def test_a_seed_asks_the_same_questions_again(drawings):
    items = items_of(drawings, 0)
    first, again, other = (
        [random_question_or_count(items, random.Random(seed)) for _ in range(8)] for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


@pytest.mark.parametrize("kind", QuestionKind)
def test_every_kind_is_asked_and_truly_answered(drawings, kind):
    rng = random.Random(3)
    asked = [(items_of(drawings, n), random_question(items_of(drawings, n), rng, kind)) for n in range(60)]
    found = [(items, one) for items, one in asked if one]
    assert len(found) > 20
    for items, one in found:
        assert one.question.kind is kind
        assert one.answer in ANSWERS
        assert answer(one.question, items) == (one.answer, one.relevant)


AHEAD = {"left of": (-1, 0), "right of": (1, 0), "above": (0, -1), "below": (0, 1)}


def nearest(items, start, relation):
    """The nearest digit on one side as the crow flies, or None."""
    side, places = np.array(AHEAD[relation]), np.array([(one.x, one.y) for one in items])
    away = places - places[start]
    there = np.flatnonzero(away @ side >= 0.1)
    return int(there[np.linalg.norm(away[there], axis=1).argmin()]) if len(there) else None


def test_two_steps_lead_from_the_named_digit_to_the_nearest_and_on_to_the_nearest_of_that(glyphs):
    many = drawing_scenes(glyphs, 60, generator(11), n_digits=(4, 6))
    rng, answers = random.Random(5), []
    for number in range(60):
        items = items_of(many, number)
        for kind in (QuestionKind.DIGIT_TWO_STEPS, QuestionKind.COLOUR_TWO_STEPS):
            if not (example := random_question(items, rng, kind)):
                continue
            asked = example.question
            named = [
                place
                for place, one in enumerate(items)
                if asked.digit in (None, one.digit) and asked.colour in (None, one.colour)
            ]
            assert example.anchors == tuple(named)
            assert len(named) == 1
            middle = nearest(items, named[0], asked.between)
            last = None if middle is None else nearest(items, middle, asked.relation)
            assert example.between == (() if middle is None else (middle,))
            assert example.looks == (example.anchors, example.between, example.relevant)
            one = None if last is None else items[last]
            said = NOTHING if one is None else one.colour if kind is QuestionKind.COLOUR_TWO_STEPS else one.digit
            assert (example.answer, example.relevant) == (said, () if last is None else (last,))
            answers.append(said)
    assert len(answers) > 80
    assert 0.5 < sum(said != NOTHING for said in answers) / len(answers) < 1


def test_what_is_named_in_the_question_is_seldom_its_answer(glyphs):
    drawings = drawing_scenes(glyphs, 100, generator(12), n_digits=(3, 6))
    rng = random.Random(6)
    asked = [random_question(items_of(drawings, n), rng, QuestionKind.DIGIT_TWO_STEPS) for n in range(100)]
    assert sum(one.relevant == one.anchors for one in asked if one) < 15


def test_composed_drawings_are_the_same_from_the_same_seed_and_their_digits_apart_and_in_their_boxes(drawings):
    counts = (drawings.labels >= 0).sum(1)
    assert counts.min() >= 1
    assert counts.max() >= 5
    for boxes, count, coverage, colours in zip(
        drawings.boxes, counts.tolist(), drawings.coverage, drawings.colours, strict=True
    ):
        there = boxes[boxes[:, 2] > 0]
        assert len(there) == count == (colours >= 0).sum()
        inside = torch.zeros(64, 64, dtype=torch.bool)
        cells = torch.arange(64) + 0.5
        for number, (top, left, bottom, right) in enumerate(there):
            for other in there[:number]:
                assert bottom <= other[0] or top >= other[2] or right <= other[1] or left >= other[3]
            inside |= ((cells > top - 2) & (cells < bottom + 2))[:, None] & (cells > left - 2) & (cells < right + 2)
        assert coverage[~inside].max() < 0.3


def test_words_are_padded():
    assert pad_questions([[3, 4], [5]]).tolist() == [[3, 4], [5, 0]]
