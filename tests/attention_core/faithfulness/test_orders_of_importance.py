"""Whether a map explains an answer: orders, curves, other weights; each against an independent computation."""

import itertools
import json
import math
from dataclasses import replace

import pytest
import torch
from scipy.stats import kendalltau

from attention_core.attention.attend import attend
from attention_core.attention.edits import BatchWeights, BlockKeys, EditError
from attention_core.attention.steps import step_of
from attention_core.data.match3 import FIRST_NUMBERS
from attention_core.data.mnist import load_mnist
from attention_core.data.pieces import START, UNKNOWN
from attention_core.evaluate.__main__ import main
from attention_core.evaluate.faithfulness import INPUTS, SEED, WITHOUT
from attention_core.explain.heads import divergence
from attention_core.faithfulness import subjects
from attention_core.faithfulness.assessment import GRADIENT, RANDOM, Assessment, assess, over_many, verdict
from attention_core.faithfulness.attribution import (
    ATTENTION,
    Curve,
    curves_of,
    gradient_times_input,
    integrated_gradients,
    kendall_tau,
    overlap,
    removal,
    total_variation,
)
from attention_core.faithfulness.variation import _shuffle, find_adversarial_weights, shuffled, uniform
from attention_core.inference.sentiment import judge, read_sentence, remove_each
from attention_core.inference.translation import explain, explain_layers, read_source, translate
from attention_core.models import MODELS as MODELS_BY_NAME
from attention_core.models import load
from attention_core.weights import read_card
from tests.support.explained_models import MODELS, TEXT, digit, picture_of_a_digit, subject_of, toy
from tests.support.tiny_data import write_digits


def test_removal_is_what_each_unit_alone_takes_away():
    subject = toy()
    answers = subject.probabilities()[0]
    for unit, fall in enumerate(removal(subject).tolist()):
        remaining = torch.cat((subject.inputs[:unit], subject.inputs[unit + 1 :]))
        assert fall == pytest.approx(
            float(answers.max() - subject.predict(remaining[None])[0, 0, answers.argmax()]), abs=1e-6
        )


def test_integrated_gradients_are_captums_and_complete():
    from captum.attr import IntegratedGradients  # here: it takes its time, and so it does for one process alone

    subject = toy()
    answer = int(subject.probabilities().argmax())
    theirs = IntegratedGradients(lambda inputs: subject.predict(inputs)[:, 0]).attribute(
        subject.inputs[None], subject.baseline.expand(1, 6, 4), target=answer, n_steps=32, method="riemann_middle"
    )
    ours = integrated_gradients(subject)
    torch.testing.assert_close(ours, theirs[0].sum(-1).float(), atol=1e-5, rtol=1e-4)
    gone = subject.predict(torch.zeros(1, 6, 4))[0, 0, answer]
    assert float(ours.sum()) == pytest.approx(float(subject.probabilities()[0, answer] - gone), abs=5e-3)


def test_gradient_times_input_is_the_slope_towards_nothing():
    subject, small = toy(), 1e-3
    answer = int(subject.probabilities().argmax())
    for unit, value in enumerate(gradient_times_input(subject).tolist()):
        values_at = []
        for sign in (1, -1):
            moved = subject.inputs.double().clone()
            moved[unit] *= 1 + sign * small
            values_at.append(float(subject.predict(moved.float()[None])[0, 0, answer]))
        assert value == pytest.approx((values_at[0] - values_at[1]) / (2 * small), abs=2e-3)


def test_curves_follow_the_order():
    subject = toy()
    order = torch.tensor([3.0, 1.0, 6.0, 2.0, 5.0, 4.0])  # units 2, 4, 5, 0, 3, 1 in turn
    answer = int(subject.probabilities().argmax())
    gone, come = (curves_of(subject, {"one": order}, inserts=inserts)["one"] for inserts in (False, True))
    for point in range(7):
        first = torch.isin(torch.arange(6), torch.tensor([2, 4, 5, 0, 3, 1])[:point])
        assert gone.probability[point] == pytest.approx(float(subject.erase(first[None])[0, 0, answer]))
        assert come.probability[point] == pytest.approx(float(subject.erase(~first[None])[0, 0, answer]))


def test_areas_taus_overlaps_and_divergences_are_those_of_their_definitions():
    assert Curve([0, 0.5, 1], [1, 0.5, 0.5]).area == pytest.approx(0.625)
    torch.manual_seed(0)
    for first, second in itertools.pairwise(torch.randint(0, 5, (4, 12)).float()):
        assert kendall_tau(first, second) == pytest.approx(kendalltau(first, second).statistic)
    assert kendall_tau(torch.ones(4), torch.arange(4.0)) == 0
    assert overlap(torch.tensor([5.0, 4, 3, 0]), torch.tensor([5.0, 0, 4, 3]), 2) == 0.5
    assert overlap(torch.tensor([1.0, 2]), torch.tensor([2.0, 1]), 5) == 1
    first, second = torch.tensor([0.5, 0.5, 0.0]), torch.tensor([0.0, 0.5, 0.5])
    assert float(divergence(first, second)) == pytest.approx(0.5)
    assert float(divergence(torch.eye(2)[0], torch.eye(2)[1])) == pytest.approx(1)


def test_shuffled_weights_move_the_answer_as_permuted_keys_do():
    subject = toy(3)
    answers, moved = subject.probabilities(), []
    for order in itertools.permutations(range(3)):
        permuted = subject.weights["attention"][..., list(order)][None]
        moved.append(float(total_variation(subject.reweigh({"attention": permuted}), answers)))
    distances = shuffled(subject, 100).tolist()
    assert all(any(math.isclose(value, one, abs_tol=1e-6) for one in moved) for value in distances)
    assert len({round(value, 5) for value in distances}) == len({round(value, 5) for value in moved})


def test_shuffled_weights_stay_among_the_keys_that_a_query_sees():
    weights = torch.rand(2, 5, 5, generator=torch.Generator().manual_seed(0)).tril() + torch.eye(5)
    mixed = _shuffle(weights, 20, torch.Generator().manual_seed(0))  # (n, n_heads, n_queries, n_keys)
    assert torch.equal(mixed > 0, (weights > 0).expand(20, -1, -1, -1))
    assert torch.equal(mixed.sort().values, weights.sort().values.expand(20, -1, -1, -1))
    assert not torch.equal(mixed, weights.expand(20, -1, -1, -1))


def test_uniform_leaves_hidden_keys_hidden():
    subject = toy(4)
    weights = torch.tensor([[[0.7, 0.3, 0.0, 0.0]]])
    hidden = replace(subject, weights={"attention": weights})
    even = subject.reweigh({"attention": torch.tensor([[[[0.5, 0.5, 0.0, 0.0]]]])})
    assert uniform(hidden) == pytest.approx(float(total_variation(even, subject.probabilities())))


def test_other_weights_keep_the_answer_and_differ():
    subject = toy(12)
    adversarial = find_adversarial_weights(subject)
    rows = adversarial.weights["attention"]
    answers = subject.probabilities()
    assert float(total_variation(subject.reweigh({"attention": rows[None]}), answers)) == pytest.approx(
        adversarial.moved
    )
    assert adversarial.moved <= 0.1
    assert adversarial.divergence == pytest.approx(float(divergence(rows, subject.weights["attention"]).mean()))
    assert adversarial.divergence > 0.3
    torch.testing.assert_close(rows.sum(-1), torch.ones(1, 1))


def test_an_assessment_grows_and_says_no_more_than_it_knows():
    shares, assessment = [], None
    for share, assessment in assess(toy()):
        shares.append(share)
        assert verdict(assessment).startswith("Here the map")  # from the first figures on
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert (
        set(assessment.deletion) == set(assessment.insertion) == {ATTENTION, GRADIENT, "integrated gradients", RANDOM}
    )
    with pytest.raises(RuntimeError, match="kept without its model"):
        assessment.subject.probabilities()
    assert assessment.agreement(ATTENTION) == pytest.approx(
        kendalltau(assessment.subject.received, assessment.removal).statistic
    )
    with pytest.warns(DeprecationWarning, match="Assessment.other is called adversarial now"):
        assert assessment.other is assessment.adversarial


def test_given_weights_are_what_is_summed_and_no_trace_holds_them():
    query, key, value = torch.randn(2, 1, 3, 4), torch.randn(2, 1, 5, 4), torch.randn(2, 1, 5, 2)
    weights = torch.rand(2, 1, 3, 5)
    output = attend(query, key, value, edits=(BatchWeights(weights),), with_weights=True)
    torch.testing.assert_close(output.context, weights @ value)
    assert output.weights is weights
    rows = BatchWeights(weights).restrict_queries(1, 2, 1)[0]
    torch.testing.assert_close(rows.weights, weights[..., 1:3, :])
    sentence, model = read_sentence(TEXT), load("sentence-attention", "cpu")
    with pytest.raises(EditError, match="whole batch"):
        model.trace(sentence.pieces, sentence.labels, (BatchWeights(torch.ones(1, 1, 1, len(sentence.words))),))


@pytest.mark.parametrize("name", MODELS)
def test_true_weights_and_nothing_erased_give_the_models_own_answer(name):
    subject = subject_of(name)
    answers = subject.probabilities()
    true_weights = {name: weights[None].expand(2, *weights.shape) for name, weights in subject.weights.items()}
    torch.testing.assert_close(subject.reweigh(true_weights), answers.expand(2, *answers.shape), atol=1e-5, rtol=1e-4)
    nothing = torch.zeros(1, subject.n_units, dtype=torch.bool)
    torch.testing.assert_close(subject.erase(nothing)[0], answers, atol=1e-5, rtol=1e-4)
    assert subject.received.shape == (subject.n_units,)
    inputs = subject.inputs[None].clone().requires_grad_()
    assert torch.autograd.grad(subject.predict(inputs).max(), inputs)[0].abs().sum() > 0


def test_the_subjects_answers_are_what_the_pages_say():
    sentence, model = read_sentence(TEXT), load("sentence-attention", "cpu")
    subject = subject_of("sentence-attention")
    positive = subject.probabilities()[0, 1]
    assert float(positive) == pytest.approx(judge(model, sentence).positive, abs=1e-6)
    sign = 1 if positive >= 0.5 else -1
    torch.testing.assert_close(-sign * removal(subject), remove_each(model, sentence), atol=1e-6, rtol=0)
    third = torch.arange(subject.n_units)[None] == 2
    vectors = torch.where(third.T, subject.baseline, subject.inputs)
    torch.testing.assert_close(subject.erase_otherwise(third), subject.predict(vectors[None]))


@pytest.mark.parametrize("name", ["translator-additive", "translator-transformer"])
@torch.no_grad()
def test_a_word_is_made_unknown_or_left_out_of_what_is_translated(name):
    subject, model = subject_of(name), load(name, "cpu")
    source, short = read_source("The red car is old."), read_source("The car is old.")
    target = torch.tensor(translate(model, source).ids)
    fed = torch.cat((torch.tensor([START]), target[:-1]))[None]
    second = torch.arange(subject.n_units)[None] == source.words.index("red")
    gone = torch.cat((second, torch.zeros_like(second), second))
    left_out = subject.erase_otherwise(gone)
    expected = [model(one.ids[None], fed).logits[0].softmax(-1) for one in (short, source, short)]
    torch.testing.assert_close(left_out, torch.stack(expected), atol=1e-5, rtol=1e-4)
    unknown = source.ids.clone()
    unknown[[place for place, word in enumerate(source.word_of) if second[0, min(word, subject.n_units - 1)]]] = UNKNOWN
    torch.testing.assert_close(subject.erase(second)[0], model(unknown[None], fed).logits[0].softmax(-1))
    assert not torch.allclose(left_out[0], subject.erase(second)[0], atol=1e-2)


def test_subjects_of_models_without_a_page_of_their_own_say_what_the_models_say():
    caption, language = (load(name, "cpu") for name in ("scene-caption", "language-recurrent"))
    written = caption.explain(picture_of_a_digit())
    subject = subject_of("scene-caption")
    n_glances = caption.config.n_glances
    torch.testing.assert_close(subject.probabilities(), written.probabilities[n_glances - 1 :], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(subject.weights["attention"][0], written.trace.weights(0), atol=1e-5, rtol=1e-4)
    ids = torch.tensor([0, 12, 40, 7])
    expected = language(ids[None]).logits[0, -1:].softmax(-1)
    torch.testing.assert_close(subject_of("language-recurrent").probabilities(), expected)
    recorded = language.trace(ids.tolist(), list("abcd")).weights(0)[-1:]
    torch.testing.assert_close(subject_of("language-recurrent").weights["attention"][0], recorded)
    sentence, model = read_sentence(TEXT), load("sentence-two-phase", "cpu")
    expected = model(sentence.pieces[None]).logits.softmax(-1)
    torch.testing.assert_close(subject_of("sentence-two-phase").probabilities(), expected)


def test_every_trained_model_is_measured_or_says_why_not(capsys):
    assert {*INPUTS, *WITHOUT} == {*MODELS_BY_NAME}
    assert main(["faithfulness", "sentence-mean", "--device", "cpu"]) == 1
    assert "its weights are the same whatever the input" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("own", "chance", "lead", "words"),
    [
        (0.5669, 0.6793, 0.476, "does not clearly point at"),  # match3-simplicial has no lead
        (0.5542, 0.5698, 0.498, "does not clearly point at"),  # match3-pairwise has none, and hardly a difference
        (0.3416, 0.3570, 0.653, "does not clearly point at"),  # translator-additive has hardly a difference
        (0.3277, 0.3467, 0.700, "does not clearly point at"),  # translator-dot, too
        (0.3, 0.32, 0.501, "points at"),
        (0.32, 0.3, 0.499, "is worse than chance at pointing at"),
        (0.32, 0.3, 0.5, "does not clearly point at"),
    ],
)
@pytest.mark.parametrize("n", [3, 200, 424])
def test_many_inputs_are_summed_up_in_words_by_a_difference_and_a_lead(own, chance, lead, words, n):
    areas = {ATTENTION: [own, 1 / n], GRADIENT: [0.4, 1 / n], RANDOM: [chance, 1 / n]}
    figures = {"n": n, "area_of_deletion": areas, "attention_beats_random": lead}
    assert over_many(figures) == f"Over {n} held-out inputs the map {words} what the answers need."


@pytest.mark.parametrize("name", INPUTS)
def test_every_card_says_of_its_maps_what_its_figures_say(name):
    figures = read_card(name)["faithfulness"]
    assert figures["in_words"] == over_many(figures)


@pytest.mark.parametrize(
    ("own", "words"), [(0.3, "points at"), (0.46, "does not clearly point at"), (0.6, "is worse than chance")]
)
def test_one_input_is_summed_up_in_words_that_fit_its_numbers(own, words):
    curves = {name: Curve([0, 1], [area, area]) for name, area in ((ATTENTION, own), (RANDOM, 0.5))}
    sentence = verdict(Assessment(toy(), torch.zeros(1), {}, deletion=curves))
    assert words in sentence
    assert sentence.endswith(f"leave the answer {own:.0%} on average, in random order 50%.")


def test_the_translators_weights_are_those_of_its_trace():
    source = read_source("The red car is old.")
    additive, transformer = (load(f"translator-{name}", "cpu") for name in ("additive", "transformer"))
    trace = explain(additive, source, translate(additive, source))
    torch.testing.assert_close(subject_of("translator-additive").weights["attention"][0], trace.weights(0))
    traces = explain_layers(transformer, source, translate(transformer, source))
    weights = subject_of("translator-transformer").weights
    for layer in range(3):
        for head in range(6):
            torch.testing.assert_close(weights[f"cross {layer + 1}"][head], traces["cross", layer].weights(head))


@pytest.mark.parametrize("name", ["match3-pairwise", "match3-simplicial"])
def test_at_a_party_others_are_hidden_and_weights_are_those_of_the_trace(name):
    model, subject = load(name, "cpu"), subject_of(name)
    trace = model.trace(list(FIRST_NUMBERS))
    torch.testing.assert_close(subject.weights["attention"][0, 0], trace.weights(0, [1])[0])
    torch.testing.assert_close(subject.probabilities()[0], step_of(trace, "answer").value()[1])
    for unit, guest in enumerate([0, 2, 3, 4, 5, 6, 7]):
        single = [key for key in range(9) if key == guest]
        keys = [key for key in range(81) if guest in divmod(key, 9)] if name == "match3-simplicial" else single
        assert float(subject.received[unit]) == pytest.approx(float(trace.weights(0, [1])[0, keys].sum()), abs=1e-5)
        without = step_of(model.trace(list(FIRST_NUMBERS), edits=(BlockKeys(tuple(keys)),)), "answer").value()[1]
        erased = torch.zeros(1, 7, dtype=torch.bool)
        erased[0, unit] = True
        torch.testing.assert_close(subject.erase(erased)[0, 0], without, atol=1e-5, rtol=1e-4)


def test_only_ink_is_erased():
    subject = subject_of("pixel-notes")
    assert subject.n_units == int((digit(28) > 0.3).sum())
    black = subject.erase(torch.ones(1, subject.n_units, dtype=torch.bool))
    torch.testing.assert_close(black[0], subject.predict(torch.zeros(1, 784, 1))[0])


def test_the_command_says_what_data_are_missing_and_measures_held_out_digits(tmp_path, capsys):
    assert main(["faithfulness", "feature-mask", "--data", str(tmp_path), "--device", "cpu"]) == 1
    assert "t10k-images" in capsys.readouterr().err
    write_digits(tmp_path)
    assert main(["faithfulness", "pixel-notes", "--n", "3", "--data", str(tmp_path), "--json", "--device", "cpu"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["n"] == 3
    images = load_mnist("t10k", tmp_path).images
    chosen = torch.randperm(len(images), generator=torch.Generator().manual_seed(SEED))[:3].tolist()
    model, areas = load("pixel-notes", "cpu"), []
    for place in chosen:
        subject = subjects.pixel_subject(model, torch.tensor(images[place] / 255, dtype=torch.float32))
        areas.append(curves_of(subject, {"map": subject.received})["map"].area)
    assert figures["area_of_deletion"]["attention"][0] == pytest.approx(sum(areas) / 3, abs=1e-4)
