"""Trainings that are watched: the same numbers however often they rest, honest controls, files of strangers."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import safetensors.torch
import torch

from attention_core.bounds.limits import CHECKPOINT_BYTES
from attention_core.data.lessons import DIGITS, PAIRS, grammar, short_pairs, small_digits
from attention_core.files import find_file
from attention_core.live_training.digits import DigitLesson
from attention_core.live_training.lesson import (
    ATTENTION,
    BEFOREHAND,
    EDGES,
    LABELS,
    POSITION,
    SCALE,
    UNIFORM,
    WITHOUT,
    LiveSettings,
)
from attention_core.live_training.live_run import LESSONS, SCRIPT, Frame, LiveRun, recorded_run, verdict
from attention_core.live_training.sentences import LENGTHS
from attention_core.live_training.triples import SINGLE, TripleLesson
from attention_core.models.match3 import Prediction
from attention_core.models.pixel_notes import PixelNotes
from tests.support.traces import of_weights

DIGIT, SENTENCE = LiveSettings(size="small"), LiveSettings("grammar", "small", score="dot")
PAIR, TRIPLE = LiveSettings("pairs", "small", score="general"), LiveSettings("triples", "small")
LOOKUP, GRAPH = LiveSettings("lookup", "small", share=10), LiveSettings("graph", "small")
EDGES_OF_GRAPH = "AB CD EF GH IJ KL AE AI BF BK CE CL DG EJ FI GK HL HJ"


def advanced(run: LiveRun, n: int) -> LiveRun:
    for _ in range(n):
        run.advance()
    return run


def told(run: LiveRun) -> list:
    return [(frame.step, frame.losses, frame.accuracies) for frame in run.frames]


@pytest.mark.parametrize("settings", [DIGIT, SENTENCE, PAIR, TRIPLE, LOOKUP, GRAPH], ids=lambda one: one.lesson)
def test_a_training_goes_on_with_the_same_numbers_and_its_script_prints_them(settings, monkeypatch, capsys):
    for name, (batch_size, *_) in LENGTHS.items():
        monkeypatch.setitem(LENGTHS, name, (batch_size, 3, 1))
    monkeypatch.setattr(LESSONS[settings.lesson].make, "n_steps", 3, raising=False)
    straight, rested = advanced(LiveRun(settings), 3), advanced(LiveRun(settings), 1)
    again = advanced(LiveRun.from_checkpoint(rested.checkpoint()), 2)
    assert again.step == straight.step == 3
    assert told(again) == told(straight)
    assert len({frame.step for frame in straight.frames}) == len(straight.frames) > 2
    given = {DIGIT: small_digits()[1].images[0] / 255, TRIPLE: "1 2 3 4", GRAPH: EDGES_OF_GRAPH}.get(
        settings, "the red car hides a mouse"
    )
    looks = [run.look(run.frames[-1], given) for run in (again, straight)]
    assert looks[0].answer == looks[1].answer
    np.testing.assert_array_equal(looks[0].weights, looks[1].weights)
    np.testing.assert_allclose(looks[0].weights.sum(1), 1, rtol=1e-5)
    assert looks[0].weights.shape == (len(looks[0].queries), len(looks[0].keys))
    exec(SCRIPT.format(settings=settings), {})
    assert capsys.readouterr().out.splitlines() == [
        f"{step} {accuracies} {losses}" for step, losses, accuracies in told(straight)
    ]


def test_attention_learns_what_equal_weights_cannot():
    run = advanced(LiveRun(LiveSettings()), 130)
    assert run.frames[-1].accuracies[ATTENTION] > 0.4 > run.frames[-1].accuracies[UNIFORM] + 0.1
    assert "Attention did the work" in verdict(run)
    assert "too early" in verdict(LiveRun(DIGIT))
    given = small_digits()[1].images[0] / 255
    before, after = (run.look(frame, given) for frame in (run.frames[0], run.frames[-1]))
    assert after.weights.max() > 5 * before.weights.max(), "the map has become sharp"
    assert before.passed > 0.99
    broken = advanced(LiveRun(LiveSettings(broken=SCALE)), 82)
    assert broken.look(broken.frames[-1], given).passed < 0.1 < after.passed, "large sums pick single pixels"


def test_looks_learned_beforehand_stay_and_the_rest_is_learned_sooner():
    recorded = recorded_run("digits")
    run = advanced(LiveRun(LiveSettings(broken=BEFOREHAND)), 40)
    again = advanced(LiveRun.from_checkpoint(run.checkpoint()), 61)
    given = small_digits()[1].images[0] / 255
    looks = [one.look(one.frames[-1], given).weights for one in (recorded, run, again)]
    np.testing.assert_allclose(looks[1], looks[0], rtol=0.02, atol=1e-3, err_msg="kept in two bytes each")
    np.testing.assert_array_equal(looks[2], looks[1])
    assert again.frames[-1].step == 101
    right = [one.frames[len(again.frames) - 1].accuracies[ATTENTION] for one in (again, recorded)]
    assert right == pytest.approx([0.77, 0.44], abs=0.03), "as the page says"


def test_only_attention_to_pairs_finds_triples():
    run = advanced(LiveRun(replace(LiveSettings("triples"), size="small")), 118)
    assert run.frames[-1].accuracies[ATTENTION] > 0.57
    assert max(run.frames[-1].accuracies[name] for name in (UNIFORM, SINGLE)) < 0.56
    look = run.look(run.frames[-1], "7 16 8 1 2")
    assert (len(look.queries), len(look.keys)) == look.weights.shape == (5, 6)
    np.testing.assert_allclose(look.weights.sum(1), 1, rtol=1e-5)
    assert not look.weights.diagonal().any(), "no number is in a pair with itself"
    assert look.answer.startswith(("Says: in a triple ", "Says: no number"))
    example = run.look(run.frames[-1], "seven")
    assert list(example.queries.labels) == ["1", "7", "16", "17", "11", "8", "24", "5"]
    assert run.lesson.remark("seven").endswith("The numbers of the example are shown.")
    assert run.lesson.remark("1 7 16 17 11 8 24 5") == ""
    assert run.lesson.remark("1 7 16 17 11 8 24 5 9").endswith("24, 5, 9. The first 8 are read here.")


def test_only_attention_finds_the_neighbour_of_a_colour_and_only_along_edges():
    run, without = (advanced(LiveRun(replace(GRAPH, broken=broken)), 70) for broken in ("", EDGES))
    right, equal, alone = run.frames[-1].accuracies.values()
    assert right > 0.95 > 0.6 > max(equal, alone, without.frames[-1].accuracies[ATTENTION])
    look = run.look(run.frames[-1], "ab, A-C bk KL aa xy")
    assert look.answer.startswith("Says A1 B4 ")
    assert look.weights[0].argmax() == 1
    assert (look.says[1], look.is_right[:2]) == ("4", (None, True)), "A has two neighbours of its colour"
    assert set(np.flatnonzero(look.weights[1])) == {0, 10}, "B sees A and K alone"
    assert not look.weights[3].any()
    assert run.lesson.remark("ab, A-C bk KL aa xy").startswith("No edge leads to D, E, F, G, H, I, J:")
    assert run.lesson.remark(EDGES_OF_GRAPH) == without.lesson.remark("ab") == "", "without edges all are asked"
    assert (without.look(without.frames[-1], "ab").weights > 0).all()


def test_only_attention_finds_a_misspelt_word_among_words_never_met():
    run = advanced(LiveRun(LiveSettings("lookup")), 204)
    attention, equal, query_alone = run.frames[-1].accuracies.values()
    assert attention > 0.8 > 0.3 > max(equal, query_alone)
    look = run.look(run.frames[-1], "dcotor river brother")
    assert (look.answer, look.weights.shape) == ("Finds 7, 5, 2", (3, 8))
    assert list(look.weights.argmax(1)) == [2, 6, 7]
    assert (look.says, look.is_right) == (("7", "5", "2"), (True,) * 3)
    assert "no letters" in run.lesson.remark("river ?!")
    assert run.lesson.remark("river " * 9) == "The first 8 words are looked up."
    assert run.lesson.remark("?! " + "river " * 8).endswith("asks for nothing. The first 8 words are looked up.")


@pytest.mark.parametrize(
    ("attention", "equal", "alone", "step", "says"),
    [
        ([0.1, 0.1], [0.1, 0.1], [0.1, 0.1], 10, "After 10 batches: **It is too early to tell**. 10% right, 10% with "),
        (
            [0.1, 0.5],
            [0.1, 0.1],
            [0.1, 0.2],
            10,
            "**Attention did the work so far**. 50% right, 20% with no attention, 10% with every",
        ),
        (
            [0.1, 0.8],
            [0.1, 0.3],
            [0.1, 0.2],
            100,
            "After 100 batches: **Attention did the work**. 80% right, 30% with every weight equal, 20% with no",
        ),
        ([0.1, 0.3], [0.1, 0.9], [0.1, 0.2], 100, "**Attention did worse than a control**. 30% right, 90% with "),
        ([0.1, 0.3], [0.1, 0.9], [0.1, 0.2], 50, "**Attention did worse than a control so far**. 30% right"),
        (
            [0.93, 1.0],
            [0.5, 0.97],
            [0.1, 0.2],
            100,
            "within 5 points, but attention was there first: 90% after 5 batches",
        ),
        ([0.93, 1.0], [0.5, 0.97], [0.95, 0.2], 100, "**A control comes within 5 points**. 100% right, 97% with every"),
        ([0.1, 0.1], [0.1, 0.1], [0.1, 0.11], 50, "**A control does as well so far**. 10% right, 11% with no"),
        ([0.1, 0.1], [0.1, 0.1], [0.1, 0.1], 100, "**A control does as well**. 10% right, 10% with every weight"),
        ([0.1, 0.996], [0.1, 0.004], [0.1, 0.003], 100, "**Attention did the work**. >99% right, <1% with every"),
        ([0.1, 0.2], [0.1, 0.1], [0.1, 0.1], 1, "After 1 batch: **Attention did the work so far**. 20% right"),
    ],
)
def test_the_verdict_says_no_more_than_its_numbers(attention, equal, alone, step, says):
    names = (ATTENTION, UNIFORM, WITHOUT)
    frames = [
        Frame(at, {}, dict(zip(names, shares, strict=True)), {})
        for at, shares in zip((5, step), zip(attention, equal, alone, strict=True), strict=True)
    ]
    run = SimpleNamespace(frames=frames, models=dict.fromkeys(names), step=step, n_steps=100, is_done=step == 100)
    assert says in verdict(run)
    assert verdict(run, 1).startswith("After 5 batches: "), "as it was then"


@pytest.mark.parametrize(
    ("yes", "says"),
    [
        ((), "Says: no number is in a triple"),
        ((1,), "Says: in a triple is 7"),
        ((0, 1, 2), "Says: in a triple are 1, 7, 16"),
    ],
)
def test_numbers_in_triples_are_told_by_their_count(yes, says):
    class Answers(torch.nn.Linear):
        def forward(self, numbers, trace):
            logits = torch.tensor([[[0.0, 1.0 if place in yes else -1.0] for place in range(3)]])
            return Prediction(logits, (of_weights(torch.full((1, 3, 16), 1 / 16)),))

    assert TripleLesson(TRIPLE).look(Answers(1, 1), "1 7 16").answer == says


@pytest.mark.parametrize("name", ["grammar", "pairs"])
def test_a_word_counts_as_met_only_if_it_is_learned_from(name):
    few = LiveRun(LiveSettings(name, "small", score="dot", share=1)).lesson
    n = len(few.corpus.train) // 100
    met = {word for english, _ in few.corpus.train[:n] for word in english}
    rare = next(word for english, _ in few.corpus.train for word in english if word not in met).removeprefix("▁")
    assert few.remark(rare).startswith(f"It never meets *{rare}*. It learns ")
    assert "voiture" in few.remark("voiture"), "a French word is none of the English ones"
    assert few.remark(" ".join(["the"] * 13)).endswith("The first 12 words are read.")


def test_what_is_broken_is_missing():
    plain, *models = (LiveRun(replace(DIGIT, broken=broken)).watched for broken in ("", POSITION, SCALE))
    assert isinstance(plain, PixelNotes)
    assert plain.position is not None
    assert models[0].position is None
    assert (plain.factor, models[1].factor) == (8**-0.5, 1)
    assert models[1].config.d_k == 64
    for name in ("lookup", "triples"):
        given = "river brother" if name == "lookup" else "1 7 16 17"
        plain, broken = (LiveRun(LiveSettings(name, "large", broken=broken)) for broken in ("", SCALE))
        passed = [run.look(run.frames[0], given).passed for run in (plain, broken)]
        assert passed[1] < passed[0], "larger scores are sharper"
    alone = LiveRun(replace(SENTENCE, broken=POSITION))
    first, second = (alone.watched.encode(torch.tensor([words])) for words in ([5, 6, 7], [7, 6, 5]))
    torch.testing.assert_close(first.states, second.states.flip(1))
    torch.testing.assert_close(first.last, second.last)
    right, shuffled = (DigitLesson(replace(DIGIT, broken=broken))._learned[1] for broken in ("", LABELS))
    assert sorted(right.tolist()) == sorted(shuffled.tolist())
    assert (right == shuffled).float().mean() < 0.2
    assert len(DigitLesson(replace(DIGIT, share=1))._learned[1]) == 40


def test_settings_that_there_are_not_are_refused():
    for changed in ({"lesson": "x"}, {"size": "huge"}, {"share": 50}, {"seed": -1}, {"broken": "x"}, {"score": "dot"}):
        with pytest.raises(ValueError, match="must be one of"):
            LiveRun(replace(DIGIT, **changed))


def test_files_of_strangers_are_refused():
    content = advanced(LiveRun(DIGIT), 2).checkpoint()
    tensors, n = safetensors.torch.load(content), int.from_bytes(content[:8], "little")
    about = json.loads(content[8 : 8 + n])["__metadata__"]
    settings = json.loads(about["settings"])

    def file(**changed: str) -> bytes:
        return safetensors.torch.save(tensors, about | changed)

    assert LiveRun.from_checkpoint(file()).step == 2
    bad = [
        b"", b"\0" * 8, b"\xff" * 40, content[:-1], content[: n // 2], safetensors.torch.save(tensors),
        file(step="30"), file(step="-1"), file(step="x"), file(frames="[]"), file(frames="7"), file(losses="[[], 0]"),
        file(frames=about["frames"].replace("0.1", "1e999")),
        file(settings="{}"), file(settings=json.dumps(settings | {"size": "medium"})),
        file(settings=json.dumps(settings | {"seed": True})), file(settings=json.dumps(settings | {"lesson": ["x"]})),
        safetensors.torch.save({name: one for name, one in tensors.items() if name != "0.model.ink"}, about),
        safetensors.torch.save(tensors | {"frame.0.ink": tensors["frame.0.ink"][:3].clone()}, about),
    ]  # fmt: skip
    for one in bad:
        with pytest.raises(ValueError, match="no training that was saved here"):
            LiveRun.from_checkpoint(one)
    with pytest.raises(ValueError, match="more than"):
        LiveRun.from_checkpoint(bytes(CHECKPOINT_BYTES.maximum + 1))


def test_what_comes_along_is_small_and_whole():
    assert sum((find_file("lessons") / name).stat().st_size for name in (DIGITS, PAIRS)) < 2_000_000
    learned, others = small_digits()
    assert (len(learned), len(others)) == (4000, 500)
    for corpus, n in ((grammar(), 3000), (short_pairs(), 6000)):
        assert (len(corpus.train), len(corpus.held_out)) == (n, 500)
        english = {" ".join(pair[0]) for pair in corpus.train}
        assert len(english & {" ".join(pair[0]) for pair in corpus.held_out}) < 25
    assert len({word for pair in grammar().train for word in pair[0]}) == 38
