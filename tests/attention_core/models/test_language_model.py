"""The small language models: vocabulary, windows, figures, and what is traced."""

import math

import pytest
import torch
from torch.testing import assert_close

from attention_core import UNIFORM, load, trace_model
from attention_core.attention.edits import drop_heads
from attention_core.data.language_pieces import START, WINDOW, pieces, tokenizer
from attention_core.data.mnist import DataError
from attention_core.data.pieces import english_sentences
from attention_core.evaluate.language import bits_by_distance, bits_of, distances, evaluate_language
from attention_core.hub.tracing import run_model
from attention_core.models import build
from attention_core.train.language import LanguageTask, window_of
from attention_core.train.loop import TrainingProgress
from attention_core.weights import read_card
from tests.support.own_models import untrained
from tests.support.shown_code import check

NAME = "tatoeba-llama"
SENTENCES = [
    "I have never seen such a beautiful house.",
    "What time does the train leave?",
    "She put the book on the table.",
]


@pytest.fixture(scope="module")
def model():
    return load(NAME, "cpu")


@pytest.mark.parametrize("text", ["The red car.", "naïve 🙂 日本語", " two  spaces ", "tab\tand\nline"])
def test_any_text_is_read_and_given_back(text):
    ids = tokenizer()(text).input_ids
    assert tokenizer().convert_ids_to_tokens(ids[0]) == START
    assert tokenizer().decode(ids[1:]).strip() == text.strip()


def test_bits_are_those_of_the_probabilities_beside_others_too_and_more_in_reverse(model):
    text = SENTENCES[0]
    ids = torch.tensor([pieces().encode(text).ids])
    with torch.inference_mode():
        log_p = model(input_ids=ids).logits[0, :-1].log_softmax(-1).gather(1, ids[0, 1:, None])
    figures = bits_of(model, [text])
    assert figures["bits_per_character"] == pytest.approx(-log_p.sum().item() / math.log(2) / (len(text) + 1), abs=1e-3)
    assert figures["perplexity_per_piece"] == pytest.approx(math.exp(-log_p.mean().item()), rel=1e-2)
    with torch.inference_mode():
        alone = [bits_of(model, [one])["bits_per_character"] * (len(one) + 1) for one in SENTENCES]
        together = bits_of(model, SENTENCES)["bits_per_character"] * sum(len(one) + 1 for one in SENTENCES)
    assert together == pytest.approx(sum(alone), abs=0.02)
    with torch.inference_mode():
        forwards = bits_of(model, SENTENCES)
        backwards = bits_of(model, [" ".join(one.split()[::-1]) for one in SENTENCES])
    assert forwards["perplexity_per_piece"] < 60
    assert forwards["bits_per_character"] < 0.6 * backwards["bits_per_character"]


def test_its_attention_has_grouped_keys_and_one_head_copies_a_word_that_was_said_before(model):
    recording = trace_model(model, **tokenizer()("The red car is here.", return_tensors="pt"))
    assert recording.names == [f"decoder.{layer}.self" for layer in range(4)]
    trace = recording.traces[2]
    assert (trace.query.shape[0], trace.key.shape[0]) == (6, 2)
    assert_close(trace.weights(5).sum(-1), torch.ones(trace.n_queries))
    text = "Tom bought a green umbrella for his old teacher. Tom bought a green"
    inputs = tokenizer()(text, return_tensors="pt")
    umbrella = pieces().token_to_id("Ġumbrella")
    recording, output = run_model(model, inputs)
    assert output.logits[0, -1].softmax(-1)[umbrella] > 0.5
    before = inputs.input_ids[0].tolist().index(umbrella)
    assert recording.traces[3].weights(5)[-1, before] > 0.9
    without = run_model(model, inputs, edits=drop_heads([(3, 5)]))[1]
    assert without.logits[0, -1].softmax(-1)[umbrella] < 0.05


@pytest.fixture(scope="module")
def english(data_folder):
    return english_sentences(data_folder)


@pytest.mark.data
def test_windows_begin_with_the_start_and_hold_training_sentences_only(english, monkeypatch):
    monkeypatch.setattr("attention_core.train.language.english_sentences", lambda data: english)
    task = LanguageTask(False, None, 0, "cpu")
    window = window_of(task.train, torch.Generator().manual_seed(3))
    assert len(window) == WINDOW + 1
    assert window[0] == 0
    assert 0 not in window[1:]
    held_out = set(task.held_out["development"]) | set(task.held_out["test"])
    assert not held_out & set(english.train)
    again = window_of(task.train, torch.Generator().manual_seed(3))
    assert window == again
    untrained = load(NAME, "cpu")
    loss = task.loss(untrained, TrainingProgress(0, 1), torch.Generator().manual_seed(0))
    assert 0 < loss.item() < math.log(4000)


@pytest.mark.data
def test_the_figure_on_the_card_is_made_again(model, english):
    with torch.inference_mode():
        figures = bits_of(model, english.test)
    assert figures["bits_per_character"] == pytest.approx(read_card(NAME)["test"]["bits_per_character"], abs=0.002)


@pytest.mark.parametrize(
    ("content", "told"), [(b"\n \n", "no sentence"), (b"\xff\xfe\x00", "UTF-8"), (None, "cannot be read")]
)
def test_a_file_that_cannot_be_evaluated_is_told(model, tmp_path, content, told):
    path = tmp_path / "text.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=told):
        evaluate_language(model, str(path))


IDS = [0, 17, 4, 99, 17, 4, 5]
LABELS = list("abcdefg")


@pytest.fixture(scope="module")
def attentive():
    return untrained("language-recurrent", seed=2)


@pytest.fixture(scope="module")
def alone():
    return untrained("language-recurrent-alone", seed=2)


def test_both_have_the_same_size_and_without_attention_there_is_no_trace(attentive, alone):
    sizes = [sum(one.numel() for one in model.parameters()) for model in (attentive, alone)]
    assert abs(sizes[0] - sizes[1]) < 0.001 * sizes[0]
    with pytest.raises(ValueError, match="no trace"):
        alone.trace(IDS, LABELS)


def test_it_is_a_gru_whose_context_averages_its_earlier_states(attentive):
    states, _ = attentive.gru(attentive.embedding(torch.tensor(IDS)))
    scores = attentive.query(states) @ attentive.key(states).T / 8
    weights = torch.zeros(7, 7)
    for row in range(1, 7):
        weights[row, :row] = scores[row, :row].softmax(-1)
    merged = attentive.merge(torch.cat((states, weights @ states), -1))
    logits = attentive(torch.tensor([IDS])).logits[0]
    assert_close(logits, merged @ attentive.embedding.weight.T + attentive.bias)
    trace = attentive.trace(IDS, LABELS)
    assert_close(trace.weights(), weights)
    assert trace.blind_queries == [0]
    check(trace)


@pytest.mark.parametrize("name", ["language-recurrent", "language-recurrent-alone"])
def test_what_comes_later_changes_nothing_before(name):
    model = untrained(name, seed=2)
    before = model(torch.tensor([IDS])).logits
    after = model(torch.tensor([[*IDS[:5], 7, 8]])).logits
    assert_close(before[:, :5], after[:, :5])
    assert not torch.allclose(before[:, 5:], after[:, 5:])


def test_edits_change_the_answer_from_the_second_look_on(attentive):
    ids = torch.tensor([IDS])
    before, after = attentive(ids).logits, attentive(ids, edits=UNIFORM).logits
    assert_close(before[:, :2], after[:, :2])  # nothing, then one state to look at
    assert not torch.allclose(before[:, 2:], after[:, 2:])


def test_gradients_are_finite_although_the_first_state_sees_nothing():
    torch.manual_seed(0)
    model = build("language-recurrent")
    model(torch.tensor([IDS])).logits.square().mean().backward()
    for name, one in model.named_parameters():
        assert one.grad.isfinite().all(), name


def test_sentences_are_foreseen_and_bits_by_distance_are_means_over_all_pieces(attentive):
    figures = bits_of(attentive, ["The red car.", "I see."])
    assert figures["sentences"] == 2
    assert math.log(figures["perplexity_per_piece"]) == pytest.approx(math.log(4000), abs=0.5)
    windows = torch.tensor([[0, 5, 6, 7, 5, 6, 9, 6, 7], [0, 1, 1, 1, 1, 0, 1, 0, 5]])
    assert distances(windows).tolist() == [[0, 0, 0, 0, 3, 0, 0, 5], [0, 0, 1, 1, 0, 5, 2, 0]]
    windows = torch.randint(0, 30, (3, 129), generator=torch.Generator().manual_seed(4))
    figures = bits_by_distance(attentive, windows)
    assert sum(one["pieces"] for one in figures.values()) == 3 * 128
    mean = sum(one["pieces"] * one["bits"] for one in figures.values()) / (3 * 128)
    logits = attentive(windows[:, :-1]).logits
    bits = torch.nn.functional.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten()) / math.log(2)
    assert mean == pytest.approx(float(bits), abs=0.01)
