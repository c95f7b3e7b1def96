"""The models that look: traces equal what was computed, edits change the answer, figures and evaluation."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from attention_core.attention.edits import UNIFORM, BlockKeys, DropHead
from attention_core.attention.steps import step_of
from attention_core.data.drawing import draw_paths
from attention_core.data.presets import coloured_digits, digit_strokes, number_strokes
from attention_core.data.questions import (
    ANSWERS,
    Question,
    QuestionKind,
    format_question,
    pad_questions,
    question_words,
    word_ids_of,
)
from attention_core.data.scene_questions import QuestionExample
from attention_core.data.scenes import Drawings
from attention_core.evaluate.vision import judge_answering, mass_inside, numbers_right, peak_inside
from attention_core.models import build
from attention_core.models.digit_reader import END
from attention_core.models.features import VisionOutput
from attention_core.models.scene_question import SCORINGS
from attention_core.train.vision import regions_of, targets_of
from tests.support.own_models import evaluated, untrained

GENERATOR = torch.Generator().manual_seed(0)
QUESTIONS = ("how many red digits?", "which digit is left of the blue one?", "is there a 3?")


@pytest.fixture(scope="module")
def mask():
    model = untrained("feature-mask", seed=1)
    torch.nn.init.normal_(model.query)
    return model


@pytest.fixture(scope="module")
def reader():
    return untrained("digit-reader", seed=2)


@pytest.fixture(scope="module")
def answerer():
    model = untrained("scene-question", seed=3)
    torch.nn.init.normal_(model.empty_key)
    return model


def rand(*shape):
    return torch.rand(shape, generator=GENERATOR)


def are_shares(weights):
    assert weights.min() >= 0
    assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))


def test_the_mask_s_trace_equals_the_forward_pass_and_its_steps_follow_from_each_other(mask):
    pictures = rand(2, 60, 60)
    looked = mask(pictures)
    trace = mask.trace(pictures[0])
    are_shares(looked.weights)
    assert_close(trace.weights()[0], looked.weights[0, 0])
    features, query = step_of(trace, "key").value(), step_of(trace, "query").value()
    assert_close(step_of(trace, "scores").value(), query @ features.T)
    assert_close(trace.context(), trace.weights() @ features, rtol=1e-4, atol=1e-5)
    assert_close(step_of(trace, "output").value()[0], looked.logits[0].softmax(-1))
    assert_close(mask.classify(trace.context())[0], looked.logits[0], rtol=1e-4, atol=1e-5)
    assert trace.story.key_axis.grid == mask.grid == (15, 15)


def test_the_mask_is_a_1_x_1_convolution_and_a_blocked_region_gets_nothing(mask):
    pictures = rand(1, 60, 60)
    convolved = torch.nn.functional.conv2d(mask.features(pictures[:, None]), mask.query[None, :, None, None])
    assert_close(mask.trace(pictures[0]).scores()[0], convolved.flatten(), rtol=1e-4, atol=1e-4)
    picture = rand(60, 60)
    blocked = mask.trace(picture, (BlockKeys((7, 8)),))
    assert (blocked.weights()[0, [7, 8]] == 0).all()
    are_shares(blocked.weights())
    plain = build("feature-mean").eval().requires_grad_(False)
    torch.nn.init.normal_(plain.query)
    assert_close(plain.trace(picture).weights(), torch.full((1, 225), 1 / 225))
    assert_close(mask.trace(picture, UNIFORM).weights(), torch.full((1, 225), 1 / 225))


def test_reading_and_the_forward_pass_look_at_the_same_places(reader):
    pictures = rand(2, 48, 192)
    looked = reader(pictures, n_looks=4)
    are_shares(looked.weights)
    reading = reader.read(pictures[0])
    n = min(4, len(reading.probabilities))
    assert_close(reading.trace.weights()[:n], looked.weights[0, :n])
    assert_close(reading.probabilities[:n], looked.logits[0, :n].softmax(-1))
    assert_close(step_of(reading.trace, "query").value(), reading.states[:-1])
    assert len(reading.states) == len(reading.probabilities) + 1


def test_a_look_at_the_same_picture_with_another_query_sees_other_places(reader):
    picture = rand(48, 192)
    usual = reader.read(picture)
    other = reader.read(picture, start=torch.randn(128, generator=GENERATOR))
    assert not torch.allclose(usual.trace.weights()[0], other.trace.weights()[0])
    assert_close(usual.trace.key, other.trace.key)


def test_a_look_that_hands_over_nothing_is_a_recomputation_from_what_hooks_see(reader):
    picture = rand(48, 192)
    plain = reader.read(picture)
    reading = reader.read(picture, edits=(DropHead(0, query=1), DropHead(0, query=40)))
    assert reading.trace.edits == (DropHead(0, query=1),), "the other look never comes"
    assert (reading.trace.context()[1] == 0).all()
    zeros = torch.zeros_like(plain.trace.context()[1])[None]
    state = reader.cell(zeros, plain.states[1][None])
    assert_close(reading.states[2], state[0], rtol=0, atol=1e-5)
    wanted = reader.classify(torch.cat((zeros, state), 1)).softmax(-1)[0]
    assert_close(reading.probabilities[1], wanted, rtol=0, atol=1e-5)
    assert torch.equal(reading.probabilities[0], plain.probabilities[0])
    assert torch.equal(reader.read(picture, edits=()).probabilities, plain.probabilities)


def test_the_reader_stops_at_the_end_token_and_at_the_latest_after_its_most_looks(reader):
    picture = rand(48, 192)
    with torch.no_grad():
        bias = reader.classify[-1].bias
        before = bias.clone()
        bias[END] = 100
        ended = reader.read(picture)
        bias[END] = -100
        endless = reader.read(picture)
        bias.copy_(before)
    assert (ended.digits, ended.is_finished, len(ended.probabilities)) == ("", True, 1)
    assert (len(endless.digits), endless.is_finished) == (reader.config.max_looks, False)


@pytest.mark.parametrize("scoring", SCORINGS)
def test_the_question_s_traces_equal_the_forward_pass(answerer, scoring):
    words = [question_words(text) for text in QUESTIONS]
    numbers = [word_ids_of(one) for one in words]
    picture = rand(4, 64, 64)
    looked = answerer(picture[None], pad_questions(numbers), scoring)
    are_shares(looked.weights)
    for place, word in enumerate(words):
        answered = answerer.explain(picture, word, scoring)
        assert_close(answered.probabilities, looked.logits[place].softmax(-1), rtol=1e-4, atol=1e-5)
        for look in range(3):
            assert_close(answered.looks[look].weights()[0], looked.weights[place, look], rtol=1e-4, atol=1e-6)
            are_shares(answered.words[look].weights())
            assert list(answered.words[look].story.key_axis.labels) == word
        assert step_of(answered.looks[-1], "output").shape == (1, len(ANSWERS))


@pytest.mark.parametrize("scoring", SCORINGS)
def test_each_look_is_asked_with_what_the_look_before_has_found(answerer, scoring):
    """The whole of the reasoning written out for one question, in float64 and plain sums."""
    own = {name: one.double() for name, one in answerer.state_dict().items()}

    def linear(name, x):
        return own[f"{name}.weight"] @ x + own[f"{name}.bias"]

    def small_network(name, x, last):
        return linear(f"{name}.{last}", linear(f"{name}.0", x).relu())

    picture, asked = rand(4, 64, 64), question_words("what is above the one left of the blue one?")
    keys, values = (part[0].double() for part in answerer.encode_pictures(picture[None]))
    states = answerer.encode_questions(torch.tensor([word_ids_of(asked)]))[0][0].double()
    found, read = torch.zeros(96, dtype=torch.float64), []
    answered = answerer.explain(picture, asked, scoring)
    for look in range(3):
        word_scores = states @ linear(f"word_query.{look}", found) / 128**0.5
        words = word_scores.softmax(0) @ states
        query = small_network(f"query.{scoring}.{look}", torch.cat((words, found)), 2)
        if scoring == "dot":
            scores = keys @ query / 96**0.5
        else:
            scores = (own["score_query"] @ query + keys @ own["score_key"].T).tanh() @ own["score_vector"]
        found = scores.softmax(0) @ values
        assert_close(answered.looks[look].weights()[0].double(), scores.softmax(0), rtol=1e-4, atol=1e-6)
        read += [words, found]
    said = small_network("answer", torch.cat(read), 3).softmax(0)
    assert_close(answered.probabilities.double(), said, rtol=1e-4, atol=1e-6)


def test_parameters_questions_and_scores_that_do_not_fit_are_refused(answerer):
    state = build("scene-question").state_dict()
    del state["answer.0.weight"]
    with pytest.raises(RuntimeError, match=r"answer\.0\.weight"):
        build("scene-question").load_state_dict(state)
    with pytest.raises(ValueError, match="words must be at least one, got none"):
        answerer.explain(rand(4, 64, 64), [])
    with pytest.raises(ValueError, match="scoring must be one of"):
        answerer.score("location")
    with pytest.raises(ValueError, match=r"start must be \(128,\), got \(3,\)"):
        build("digit-reader").eval().requires_grad_(False).read(np.zeros((48, 192), np.float32), start=torch.zeros(3))


def test_padding_changes_no_answer_and_the_empty_key_s_weight_falls_as_more_regions_match(answerer):
    numbers = [word_ids_of(question_words(text)) for text in QUESTIONS]
    pictures = rand(2, 4, 64, 64)
    together = answerer(pictures, pad_questions(numbers[:1] * 2 + numbers[1:]), "dot").logits
    alone = answerer(pictures[:1], pad_questions(numbers[:1]), "dot").logits
    assert_close(together[:1], alone, rtol=1e-4, atol=1e-5)
    trace = answerer.explain(rand(4, 64, 64), ["how", "many"]).looks[1]
    empty = trace.weights()[0, -1]
    fewer = trace.replace((BlockKeys(tuple(range(200))),)).weights()[0, -1]
    assert fewer > empty
    assert trace.story.key_axis.labels[-1] == "nothing"


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("feature-mask", (1, 28, 28), r"pictures must be \(batch, 60, 60\)"),
        ("digit-reader", (1, 60, 60), r"pictures must be \(batch, 48, 192\)"),
    ],
)
def test_pictures_of_another_size_are_refused(name, shape, message):
    with pytest.raises(ValueError, match=message):
        build(name)(torch.zeros(shape))


def test_figures_count_parts_of_regions_peaks_by_their_middle_and_numbers_that_end():
    weights = torch.full((1, 2, 2), 0.25)
    boxes = torch.tensor([[0.0, 0.0, 10.0, 10.0]])
    assert float(mass_inside(weights, boxes, (20, 20))) == pytest.approx(0.25)
    assert float(mass_inside(weights, boxes / 2, (20, 20))) == pytest.approx(0.0625)
    assert float(mass_inside(weights, boxes + 5, (20, 20))) == pytest.approx(0.25)
    weights = torch.zeros(2, 4, 8)
    weights[:, 1, 6] = 1  # middle at row 6, column 26 of 16 x 32
    boxes = torch.tensor([[5.0, 25.0, 7.0, 27.0], [0.0, 0.0, 5.9, 32.0]])
    assert peak_inside(weights, boxes, (16, 32)).tolist() == [True, False]
    said = torch.tensor([[4, 2, 10, 7], [4, 2, 7, 10], [4, 10, 2, 10], [4, 2, 2, 2]])
    labels = torch.tensor([[4, 2, -1]] * 4)
    assert numbers_right(said, labels).tolist() == [True, False, False, False]
    labels = torch.tensor([[4, 2, -1], [1, 2, 3]])
    assert targets_of(labels).tolist() == [[4, 2, 10, -1], [1, 2, 3, 10]]


def canvas_of(strokes, size):
    canvas = np.full((*size, 4), 255, np.uint8)
    for one in strokes:
        ink = tuple(int((one.colour or "#000000")[i : i + 2], 16) for i in (1, 3, 5))
        drawn = draw_paths([one.path], max(size), one.width, ink)[: size[0], : size[1]]
        canvas = np.where(drawn[..., :3].min(-1, keepdims=True) < 250, drawn, canvas)
    return canvas


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One file for each model, with the keys that the commands document."""
    folder, rng = tmp_path_factory.mktemp("files"), np.random.default_rng(0)
    places = rng.uniform(60, 140, (8, 2))
    found = [canvas_of(digit_strokes(n, (x, y), 90), (200, 200)) for n, (x, y) in enumerate(places)]
    boxes = np.stack([places[:, 1] - 45, places[:, 0] - 30, places[:, 1] + 45, places[:, 0] + 30], 1)
    np.savez(folder / "find.npz", canvases=np.stack(found), labels=np.arange(8).astype(str), boxes=boxes)
    numbers = ["7", "42", "305", "1809"]
    np.savez(
        folder / "read.npz",
        canvases=np.stack([canvas_of(number_strokes(one, (160, 640)), (160, 640)) for one in numbers]),
        labels=np.array(numbers),
    )
    scenes = [coloured_digits(3, 240, np.random.default_rng(n)) for n in range(4)]
    drawn = [canvas_of([one for _, strokes in scene for one in strokes], (240, 240)) for scene in scenes]
    np.savez(
        folder / "ask.npz",
        canvases=np.stack(drawn),
        questions=np.array(["how many digits are there?", "How many digits?", "count the digits", "digits " * 80]),
        answers=np.array(["3", "three", "3", "3"]),
    )
    return folder


def test_digits_numbers_and_questions_are_answered_on_anyone_s_canvases(capsys, files):
    figures = evaluated(capsys, "feature-mask", files / "find.npz")
    assert (figures["n"], figures["model"]) == (8, "feature-mask")
    assert figures["accuracy"] >= 0.85
    assert figures["peak_inside"] >= 0.85
    assert 0.7 <= figures["mask_inside"] <= 1
    figures = evaluated(capsys, "digit-reader", files / "read.npz")
    assert figures["accuracy_by_length"].keys() == {"1", "2", "3", "4"}
    assert figures["accuracy"] >= 0.75
    figures = evaluated(capsys, "scene-question", files / "ask.npz")
    assert (figures["n"], figures["refused"]) == (4, 1)
    assert figures["accuracy"] == figures["dot"]["accuracy"] == 0.75
    assert figures["additive"]["accuracy"] == 0.75


def test_scenes_of_a_training_step_tell_where_looks_should_find_things():
    boxes = torch.tensor([[[0.0, 0.0, 16.0, 16.0], [32.0, 32.0, 48.0, 64.0]]])
    labels = torch.tensor([[3, 5]])
    drawings = Drawings(torch.zeros(1, 64, 64), torch.zeros(1, 3, 64, 64), labels, labels, boxes)
    asked = [
        QuestionExample(Question(QuestionKind.DIGIT_BESIDE), "", ANSWERS[3], (0,), (1,)),
        QuestionExample(Question(QuestionKind.COUNT), "", "0", ()),
    ]
    where = regions_of(drawings, [question.looks for question in asked], (4, 4))
    assert where.shape == (2, 3, 2, 16)
    assert where[0, 0, 1].nonzero().flatten().tolist() == [10, 11]
    assert where[0, 1, 0].nonzero().flatten().tolist() == [0]
    assert torch.equal(where[0, 2], where[0, 1])  # one step only: the last look stays
    assert where[1].sum() == 0


def test_of_questions_of_two_steps_every_look_has_a_place_of_its_own_and_is_judged_by_it():
    corners = torch.tensor([[0.0, 0.0, 16.0, 16.0], [0.0, 48.0, 16.0, 64.0], [48.0, 48.0, 64.0, 64.0]])
    labels = torch.tensor([[3, 5, 7]])
    drawings = Drawings(torch.zeros(1, 64, 64), torch.zeros(1, 3, 64, 64), labels, labels, corners[None])
    two_steps = Question(QuestionKind.DIGIT_TWO_STEPS, relation="below", digit="3", between="right of")
    text = format_question(two_steps)
    asked = [
        QuestionExample(two_steps, text, "7", (2,), (0,), (1,)),
        QuestionExample(two_steps, text, "nothing", (), (0,), (1,)),
    ]
    where = regions_of(drawings, [question.looks for question in asked], (4, 4))
    places = [[look.sum(0).nonzero().flatten().tolist() for look in one] for one in where]
    assert places == [[[0], [3], [15]], [[0], [3], []]]

    class Looker(torch.nn.Module):
        """Answers 7 and looks into three corners, the middle one wrongly."""

        grid = (4, 4)

        def encode_pictures(self, pictures):
            return torch.zeros(len(pictures), 1, 1), torch.zeros(len(pictures), 1, 1)

        encode_questions = torch.nn.Identity()

        def reason(self, regions, words, scoring, edits):
            weights = torch.nn.functional.one_hot(torch.tensor([0, 12, 15]), 17).float()
            logits = torch.nn.functional.one_hot(torch.tensor([7] * len(regions[0])), len(ANSWERS))
            return VisionOutput(logits.float(), weights.expand(len(regions[0]), -1, -1))

    judged = judge_answering(Looker(), torch.zeros(1, 4, 64, 64), asked, [0, 0], corners[None], "dot")
    assert judged["accuracy_by_kind"] == {"digit two steps away": 1, "nothing two steps away": 0}
    assert judged["peak_inside_by_look"] == {"look 1": 1, "look 2": 0, "look 3": 1}
