"""Translators: what is traced is what was computed, padding is invisible, decoding finds what it should."""

import copy
import math

import pytest
import torch
from torch.testing import assert_close

from attention_core.attention.edits import BlockKeys, SetScore, SetWeights, Temperature
from attention_core.attention.steps import step_of
from attention_core.data.pieces import END, PAD, START, UNKNOWN, load_vocabulary
from attention_core.inference import translation
from attention_core.inference.translation import (
    explain,
    next_pieces,
    piece_probabilities,
    read_source,
    translate,
    translation_of,
)
from attention_core.models import build
from attention_core.models.transformer import EditedTranslator, Transformer, TransformerConfig
from attention_core.models.translator import (
    LENGTH_PENALTY,
    SCORINGS,
    Labels,
    Translator,
    TranslatorConfig,
    beam_search,
)

SENTENCE = "The red car is in front of the house."
NAMES = [*SCORINGS, "transformer", "input feeding"]


@pytest.fixture(scope="module", params=NAMES)
def model(request):
    """An untrained translator of every kind, with scores large enough to differ."""
    if request.param == "transformer":
        return small_transformer(NAMES.index("transformer"))
    if request.param == "input feeding":
        return small("dot", NAMES.index("dot"), has_input_feeding=True)
    return small(request.param, NAMES.index(request.param))


def small_transformer(seed):
    torch.manual_seed(seed)
    return Transformer(TransformerConfig(n_layers=2, n_heads=3, d_model=24, d_ff=20)).eval().requires_grad_(False)


def small(scoring, seed, **more):
    torch.manual_seed(seed)
    config = TranslatorConfig(scoring, d_embedding=20, d_state=24, d_additive=10, **more)
    return Translator(config).eval().requires_grad_(False)


def traces_of(model, source, made):
    if isinstance(model, Transformer):
        return list(translation.explain_layers(model, source, made).values())
    return [explain(model, source, made)]


def finished(text="la voiture rouge."):
    return translation_of([*load_vocabulary().cut(["▁" + part for part in text.split()]).ids, END])


def two_sources():
    return torch.stack([read_source(text).ids for text in ("Look at me.", "Give it up.")])


def test_the_trace_s_weights_and_values_give_the_context_that_the_model_used(model):
    for trace in traces_of(model, read_source(SENTENCE), finished()):
        for head in range(trace.n_heads):
            assert_close(trace.weights(head) @ trace.value[head], trace.context(head))
            assert_close(trace.weights(head).sum(1), torch.ones(trace.n_queries))


def test_asking_for_the_trace_does_not_change_the_logits(model):
    source, target = read_source(SENTENCE).ids[None], torch.tensor([[START, 50, 60, 70]])
    labels = Labels([""] * source.shape[1], [""] * 4)
    plain = model(source, target).logits
    traced = model(source, target, labels=labels)
    assert_close(traced.logits, plain)
    assert len(traced.traces) == (2 + 2 * 2 if isinstance(model, Transformer) else 1)


def test_the_steps_of_a_recurrent_translator_lead_to_its_output_distribution():
    model = small("additive", seed=3)
    source, made = read_source(SENTENCE), finished()
    trace = explain(model, source, made)
    states, context = step_of(trace, "query").value(), step_of(trace, "context").value()
    features = (torch.cat((states, context), 1) @ model.read_out.weight.T + model.read_out.bias).tanh()
    assert_close(step_of(trace, "read_out").value(), features)
    probabilities = (features @ model.embedding.weight.T + model.output_bias).softmax(1)
    shown = step_of(trace, "output")
    assert "all 8,000 pieces" in shown.explanation
    for place, label in enumerate(shown.col_axis.labels):  # "la" may be a word or the end of one
        texts = (label, f"▁{label}", "</s>" if label == "end" else label)
        columns = [n for n in range(8000) if load_vocabulary().text(n) in texts]
        assert any(torch.allclose(shown.value()[:, place], probabilities[:, column]) for column in columns), label
    assert float(shown.value().amax()) == pytest.approx(float(probabilities.amax()))


def test_a_later_target_word_changes_nothing_before_it(model):
    source = read_source(SENTENCE).ids[None]
    one, other = torch.tensor([[START, 50, 60, 70]]), torch.tensor([[START, 50, 60, 99]])
    assert_close(model(source, one).logits[:, :3], model(source, other).logits[:, :3])
    assert not torch.allclose(model(source, one).logits[:, 3], model(source, other).logits[:, 3])


def test_a_beam_of_one_takes_the_likeliest_piece_at_every_step(model):
    source = read_source("Look at the red car.").ids
    said = []
    while len(said) < 12 and (not said or said[-1] != END):
        logits = model(source[None], torch.tensor([[START, *said]])).logits[0, -1]
        logits[:3] = -math.inf
        said.append(int(logits.argmax()))
    assert beam_search(model, source[None], 1)[0][0].ids[: len(said)] == said


def test_a_wider_beam_never_finds_a_less_likely_best_by_probability(model, monkeypatch):
    monkeypatch.setattr("attention_core.models.translator.LENGTH_PENALTY", 0.0)
    source = read_source("Look at the red car.").ids[None]
    narrow, wide = (beam_search(model, source, width)[0] for width in (1, 4))
    if narrow[0].is_finished == wide[0].is_finished and len(narrow[0].ids) == len(wide[0].ids):
        assert wide[0].log_probability >= narrow[0].log_probability - 1e-4
    assert len({tuple(one.ids) for one in wide}) == len(wide)


def test_the_log_probability_of_a_hypothesis_is_that_of_its_pieces(model):
    source = read_source("Look at the red car.").ids
    best = beam_search(model, source[None], 3)[0][0]
    logs = model(source[None], torch.tensor([[START, *best.ids[:-1]]])).logits[0].log_softmax(-1)
    expected = sum(float(logs[place, piece]) for place, piece in enumerate(best.ids))
    assert best.log_probability == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("prefix", [[], [50, 60]])
def test_the_search_tells_the_probabilities_that_reading_its_sentence_again_gives(model, prefix):
    source = read_source(SENTENCE)
    made = translate(model, source, 3, prefix)
    assert len(made.ids) > len(prefix)
    assert made.probabilities == pytest.approx(piece_probabilities(model, source, made.ids), rel=1e-4)


def test_sentences_searched_together_come_out_as_alone(model):
    sources = two_sources()
    together = beam_search(model, sources, 3)
    for number in range(2):
        alone = beam_search(model, sources[number : number + 1], 3)[0]
        assert together[number][0].ids == alone[0].ids


def decoded_again(model, source, width, prefix):
    """What beam search finds where every beginning is read again from its first piece, alone, at every step."""
    beam = [(list(prefix), 0.0)]
    for _ in range(max(2 * len(source) + 10, len(prefix) + 10) - len(prefix)):
        longer = [one for one in beam if one[0][-1:] == [END]]
        for ids, total in beam:
            if ids[-1:] != [END]:
                logs = model(source[None], torch.tensor([[START, *ids]])).logits[0, -1].log_softmax(-1)
                logs[[PAD, START, UNKNOWN]] = -math.inf
                longer += [([*ids, piece], total + float(logs[piece])) for piece in logs.topk(width).indices.tolist()]
        beam = sorted(longer, key=lambda one: -one[1])[:width]
    return sorted(beam, key=lambda one: (one[0][-1] == END, one[1] / len(one[0]) ** LENGTH_PENALTY), reverse=True)


@pytest.mark.parametrize("prefix", [(), (50, 60, 70)])
@pytest.mark.parametrize("eager", [0.0, 4.5])
def test_the_search_finds_what_decoding_every_beginning_again_finds(model, eager, prefix):
    model = copy.deepcopy(model)
    model.output_bias[END] += eager  # untrained models hardly ever end
    sources = two_sources()
    for source, found in zip(sources, beam_search(model, sources, 3, prefix), strict=True):
        again = decoded_again(model, source, 3, prefix)
        assert [one.ids for one in found] == [ids for ids, _ in again]
        assert [one.log_probability for one in found] == pytest.approx([total for _, total in again], abs=1e-4)
        assert any(one.is_finished for one in found) == (eager > 0)


@pytest.mark.parametrize("cuts", [[1] * 6, [3, 1, 2]])
def test_steps_from_the_kept_state_give_the_logits_of_the_whole_sentence(model, cuts):
    sources = two_sources()
    target = torch.tensor([[START, 50, 60, 70, 80, 90], [START, 51, 61, 71, 81, 91]])
    state, logits = model.begin(sources), []
    for part in target.split(cuts, 1):
        some, state = model.step(state, part)
        logits.append(some)
    assert_close(torch.cat(logits, 1), model(sources, target).logits, rtol=0, atol=1e-5)


def test_rows_go_on_from_the_rows_that_they_were_chosen_from(model):
    sources = two_sources()
    _, state = model.step(model.begin(sources), torch.tensor([[START, 50], [START, 51]]))
    _, state = model.step(state.select(torch.tensor([0, 0, 1, 1])), torch.tensor([[60], [61], [62], [63]]))
    logits, _ = model.step(state.select(torch.tensor([1, 1, 3, 2])), torch.tensor([[70], [71], [72], [73]]))
    said = torch.tensor([[50, 61, 70], [50, 61, 71], [51, 63, 72], [51, 62, 73]])
    whole = model(sources.repeat_interleave(2, 0), torch.cat((torch.full((4, 1), START), said), 1)).logits
    assert_close(logits[:, 0], whole[:, -1], rtol=0, atol=1e-5)


OF_CELLS = (Temperature(2.0), SetScore(3, 2, 5.0, head=0), SetScore(1, 0, -5.0, head=0))


@pytest.mark.parametrize(
    ("model", "edits"),
    [
        (
            small_transformer(7),
            {("decoder", 0): (BlockKeys((0,)), SetScore(2, 1, 4.0, head=1)), ("cross", 1): OF_CELLS},
        ),
        (small("additive", 7), OF_CELLS),
        (small("dot", 7, has_input_feeding=True), OF_CELLS),
    ],
)
def test_edits_of_cells_meet_the_same_queries_in_every_step(model, edits):
    source, target = read_source("Look at me.").ids[None], torch.tensor([[START, 50, 60, 70, 80]])
    edited, logits = EditedTranslator(model, edits), []
    state = edited.begin(source).select(torch.tensor([0, 0]))
    for piece in target.expand(2, -1).split(1, 1):
        some, state = edited.step(state, piece)
        logits.append(some)
    whole = model(source, target, edits=edits).logits
    assert not torch.allclose(whole, model(source, target).logits)
    assert_close(torch.cat(logits, 1), whole.expand(2, -1, -1), rtol=0, atol=1e-5)


def test_a_forced_beginning_is_kept_and_an_impossible_one_refused(model):
    source = read_source(SENTENCE)
    made = translate(model, source, 2, prefix=[50, 60])
    assert made.ids[:2] == [50, 60]
    with pytest.raises(ValueError, match="prefix"):
        translate(model, source, 2, prefix=[50, END])
    with pytest.raises(ValueError, match="width"):
        translate(model, source, 0)


def test_next_pieces_are_the_likeliest_in_order(model):
    source = read_source(SENTENCE)
    candidates = next_pieces(model, source, [50], 5)
    probabilities = model(source.ids[None], torch.tensor([[START, 50]])).logits[0, -1].softmax(-1)
    assert [one.piece for one in candidates] == probabilities.topk(5).indices.tolist()
    assert candidates[0].probability == pytest.approx(float(probabilities.max()), rel=1e-4)


@pytest.mark.parametrize("scoring", ["dot", "general", "additive", "mean", "transformer"])
def test_edited_words_are_those_of_a_recomputation_from_what_hooks_see(scoring):
    source, row = read_source(SENTENCE), 2
    model = small_transformer(3) if scoring == "transformer" else small(scoring, 3)
    plain = translate(model, source)
    edits = (SetWeights(row, ((1, 0.0), (4, 0.7)), None),)
    made = translation.forced_translation(model, source, plain.ids[:row], edits)
    shown = translation.trace_translation(model, scoring, source, (), made, edits)
    untouched = translation.trace_translation(model, scoring, source, (), made)
    target = torch.tensor([[START, *made.ids[: len(made.ids) - made.is_finished]]])
    seen = []
    if scoring == "transformer":
        last = model.decoder[-1].cross
        last.merge.register_forward_pre_hook(lambda module, given: (change(given[0]),))
    else:
        model.read_out.register_forward_pre_hook(lambda module, given: (change(given[0]),))

    def change(given):  # the context of the row is put together anew
        parts = []
        for head in range(untouched.trace.n_heads):
            weights = untouched.trace.weights(head, [row])[0].double()
            weights[[1, 4]] = 0
            weights *= 0.3 / weights.sum()
            weights[4] = 0.7
            parts.append(weights.float() @ untouched.trace.value_of(head))
        context = torch.cat(parts)
        given = given.clone()
        given[0, row, -len(context) :] = context
        seen.append(context)
        return given

    logits = model(source.ids[None], target).logits[0]
    assert seen
    wanted = logits.softmax(-1)[row]
    assert_close(shown.trace.weights(0, [row])[0, 4], torch.tensor(0.7))
    assert made.probabilities[row] == pytest.approx(float(wanted[made.ids[row]]), abs=1e-5)


def test_without_edits_nothing_is_changed_bit_by_bit(model):
    source, target = two_sources(), torch.tensor([[START, 50, 60], [START, 51, 61]])
    changed = EditedTranslator(model)
    plain, found = (one.step(one.begin(source), target)[0] for one in (model, changed))
    assert torch.equal(plain, found)
    sentence = read_source(SENTENCE)
    assert translation.forced_translation(model, sentence, (), ()) == translate(model, sentence)


@pytest.mark.parametrize("is_fed", [False, True])
def test_what_was_found_for_a_word_enters_the_next_state_by_input_feeding_alone(is_fed):
    model, source, made = small("dot", 1, has_input_feeding=is_fed), read_source(SENTENCE), finished()
    plain, edited = (explain(model, source, made, edits) for edits in ((), (SetWeights(1, ((0, 1.0),)),)))
    moved = (plain.query[0] - edited.query[0]).abs().amax(1) > 1e-6
    assert moved.tolist() == [False, False, *[is_fed] * (len(moved) - 2)]
    names = [step.name for step in plain.story.steps_before]
    assert names == ["embedding", "key", *["fed"] * is_fed, "query"]
    if is_fed:
        features = step_of(plain, "read_out").value()
        assert_close(step_of(plain, "fed").value(), torch.cat((torch.zeros(1, 20), features[:-1])))


def test_where_feeding_is_switched_off_states_follow_from_words_alone():
    model, source, made = small("dot", 1, has_input_feeding=True), read_source(SENTENCE), finished()
    fed, off = (explain(one, source, made) for one in (model, EditedTranslator(model, feeds_back=False).network))
    assert_close(off.query[0, :1], fed.query[0, :1])
    assert not torch.allclose(off.query[0, 1:], fed.query[0, 1:], atol=1e-4)
    words = model.embedding(torch.tensor([[START, *made.ids[:-1]]]))
    start = model.first_state(model.encode(source.ids[None]))
    expected = model.decoder(torch.nn.functional.pad(words, (0, model.config.d_fed)), start[None])[0]
    assert_close(off.query[0], expected[0])
    assert_close(step_of(off, "fed").value(), torch.zeros(len(made.ids), 20))


def test_blocking_a_key_changes_what_follows():
    model = small("dot", seed=1)
    source, made = read_source(SENTENCE), finished()
    plain, edited = explain(model, source, made), explain(model, source, made, (BlockKeys((1,)),))
    assert (edited.weights()[:, 1] == 0).all()
    assert not torch.allclose(step_of(plain, "read_out").value(), step_of(edited, "read_out").value())


def test_without_attention_there_is_one_key_and_the_mean_gives_all_states_the_same_weight():
    source, made = read_source(SENTENCE), finished()
    for scoring, n_keys in (("none", 1), ("mean", len(source.ids))):
        weights = explain(small(scoring, seed=1), source, made).weights()
        assert_close(weights, torch.full((len(made.ids), n_keys), 1 / n_keys))


def test_models_differ_in_their_score_alone():
    shapes = {
        name: {key: tuple(value.shape) for key, value in build(f"translator-{name}").state_dict().items()}
        for name in ("none", "mean", "dot", "additive")
    }
    for name, own in shapes.items():
        assert {key: shape for key, shape in own.items() if not key.startswith("score_")} == shapes["dot"], name


def test_an_unknown_scoring_is_refused():
    with pytest.raises(ValueError, match="scoring must be one of"):
        Translator(TranslatorConfig("guess"))
