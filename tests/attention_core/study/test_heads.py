"""Heads over a corpus: means are those of single runs, names right where the answer is known, memory is small."""

import math
from dataclasses import astuple
from itertools import islice

import pytest
import torch
import transformers as hf
from torch.testing import assert_close

from attention_core import load, run_model
from attention_core.data.language_pieces import tokenizer
from attention_core.data.phrase_book import phrase_book
from attention_core.explain.heads import summarise
from attention_core.study import Study, heads, output
from attention_core.study.heads import HEAD_NAMES, METRICS, Example, _shuffled, repeat_shares
from tests.support.study_models import MODELS, inputs_of, model_of
from tests.support.tiny_models import BYPASSING, build

TEXTS = ["Tom bought a red car.", "She never eats fish, and neither do I.", "Stop!", "Did you see it?", "It was late."]


def by_hand(study, texts):
    """Return the summaries (n_texts, n_layers, n_heads, n_metrics) of single runs of the model."""
    rows = []
    for number, text in enumerate(texts):
        one = study._text(number, text) if isinstance(text, str) else text
        traces = run_model(study.model, one.inputs)[0].traces
        special = one.special[0].nonzero()[:, 0].tolist()
        rows.append([[astuple(summarise(trace, h, special)) for h in range(trace.n_heads)] for trace in traces])
    return torch.tensor(rows)


@pytest.fixture(scope="module")
def bundled():
    return Study(load("tatoeba-llama"), tokenizer())


@pytest.mark.parametrize("name", ["bundled", "minilm"])
def test_means_intervals_and_shuffled_means_are_those_of_single_runs(name, bundled, request, monkeypatch):
    monkeypatch.setattr(heads, "SHUFFLE_EVERY", 2)
    study = bundled
    if name == "minilm":
        loaded = request.getfixturevalue("minilm")
        study = Study(loaded.model, loaded.tokenizer)
    result = study.heads(TEXTS)
    rows = by_hand(study, TEXTS)
    for column, metric in enumerate(METRICS):
        values = rows[..., column].double()
        assert_close(result.map(metric), values.nanmean(0), atol=1e-5, rtol=0, equal_nan=True)
        n = (~values.isnan()).sum(0)
        variance = ((values - values.nanmean(0)) ** 2).nansum(0) / (n - 1)
        margin = torch.stack([*result.margins[metric]])
        assert_close(margin, 1.96 * (variance / n).sqrt(), atol=2e-5, rtol=0, equal_nan=True)
    texts = [_shuffled(study._text(number, TEXTS[number])) for number in (0, 2, 4)]
    for text, before in zip(texts, (TEXTS[0], TEXTS[2], TEXTS[4]), strict=True):
        ids = study.inputs(before)["input_ids"]
        assert sorted(text.inputs["input_ids"][0].tolist()) == sorted(ids[0].tolist())
        assert (text.inputs["input_ids"] == ids)[text.special].all()
    shuffled = by_hand(study, texts)
    for column, metric in enumerate(METRICS):
        mean = torch.stack([*result.shuffled[metric]])
        assert_close(mean, shuffled[..., column].double().nanmean(0), atol=1e-5, rtol=0, equal_nan=True)


def test_the_strongest_rows_are_the_corpus_s_largest_weights_on_other_words(bundled):
    result = bundled.heads(TEXTS)
    for layer, head in ((0, 3), (3, 5)):
        best = []
        for text in TEXTS:
            weights = bundled.run(text)[0].traces[layer].weights(head).clone()
            weights[:, 0] = 0
            weights.fill_diagonal_(0)
            best.append((float(weights.max()), bundled.tokens(text), *divmod(int(weights.argmax()), len(weights))))
        best.sort(key=lambda one: -one[0])
        for example, (weight, tokens, query, key) in zip(result.examples[layer, head], best, strict=False):
            assert example.weight == pytest.approx(weight, abs=1e-5)
            assert (example.tokens, example.query, example.key) == (tokens, query, key)
        assert len(result.examples[layer, head]) == 3


def test_names_are_given_to_heads_that_do_just_that():
    n, start, period = 12, 1, 5
    special = torch.zeros(2, n, dtype=torch.bool)
    special[:, [0, -1]] = True
    rows = torch.arange(n)
    looks = {
        "previous token": (rows - 1).clamp_min(0),
        "induction": (rows - period + 1).clamp_min(0),
        "duplicate token": (rows - period).clamp_min(0),
        "sink": torch.zeros_like(rows),
        "separator": torch.full_like(rows, n - 1),
        "positional": (rows - 3).clamp_min(0),
    }
    weights = torch.stack([torch.nn.functional.one_hot(keys, n).float() for keys in looks.values()])
    shares = repeat_shares(weights.expand(2, -1, -1, -1), start, period, special)
    assert_close(shares[..., :5], torch.eye(6)[:, :5].expand(2, -1, -1))
    assert shares[0, -1, -1] == 1
    means = {name: [shares[0, :, column]] for column, name in enumerate(HEAD_NAMES)} | {"entropy": [torch.zeros(6)]}
    result = heads.Heads([""], means, {}, {}, {}, 2)
    assert [result.name(0, head) for head in range(6)] == [*looks]
    blurred = heads.Heads([""], {name: [layers[0] * 0.3] for name, layers in means.items()}, {}, {}, {}, 2)
    assert {blurred.name(0, head) for head in range(6)} == {""}


def test_the_bundled_model_s_circuit_is_called_by_its_names_and_the_corpus_comes_along(bundled, monkeypatch):
    monkeypatch.setattr("attention_core.study.study.N_SENTENCES", 50)
    done = []
    result = bundled.heads(progress=done.append)
    assert result.n_texts == done[-1] >= 50
    assert (result.name(3, 5), result.name(2, 0)) == ("induction", "previous token")
    assert result.map("induction")[3, 5] > 0.5
    names = bundled.names()
    for name in HEAD_NAMES:
        assert_close(names.map(name), result.map(name), equal_nan=True)
    assert names.columns()["name"] == result.columns()["name"]
    with pytest.raises(ValueError, match="cannot read random words"):
        Study(model_of("vit")).names(inputs_of("vit"))
    assert result.map("previous").shape == (4, 6)
    frame = result.to_frame()
    row = frame[(frame.layer == 3) & (frame["head"] == 5)].iloc[0]
    assert row.source.startswith("Olsson et al. 2022")
    assert row.example_key in row.example
    assert len(frame) == 24


@pytest.mark.parametrize("name", ["Bloom", "vit", "swin"])
def test_whatever_can_be_traced_has_heads_over_a_corpus(name):
    if name == "Bloom":
        model, inputs = build(hf.BloomModel, hf.BloomConfig(**BYPASSING["Bloom"][0])), inputs_of("llama")
    else:
        size = {"image_size": 16, "patch_size": 2, "embed_dim": 8, "depths": [2], "num_heads": [2], "window_size": 4}
        model = model_of("vit") if name == "vit" else build(hf.SwinModel, hf.SwinConfig(**size))
        inputs = inputs_of("vit")
    study = Study(model)
    result = study.heads(inputs)
    if name != "swin":
        rows = by_hand(study, [study._text(number, one) for number, one in enumerate(inputs)])
        assert_close(result.map("entropy"), rows[..., 0].double().mean(0), atol=1e-5, rtol=0)
        assert_close(result.map("itself"), rows[..., 4].double().mean(0), atol=1e-5, rtol=0)
    else:
        recorded = [run_model(model, one, item="all")[0].traces for one in inputs]
        entropies = [torch.tensor([summarise(one, 1).entropy for one in traces[:4]]).mean() for traces in recorded]
        assert result.map("entropy")[0, 1] == pytest.approx(float(sum(entropies) / 2), abs=1e-5)
    assert ("induction" in result.means) == (name == "Bloom")
    assert bool(result.shuffled) == (name == "Bloom")


def test_a_corpus_streams_by_in_memory_that_does_not_grow(bundled, monkeypatch):
    monkeypatch.setattr(heads, "CHUNK", 8)
    ahead, read, done = [], 0, 0

    def corpus():
        nonlocal read
        for sentence in islice(phrase_book(), 40):
            read += 1
            ahead.append(read - done)
            yield sentence

    def progress(n):
        nonlocal done
        done = n

    result = bundled.heads(corpus(), progress=progress)
    assert read == done == 40
    assert max(ahead) <= 9
    assert sum(map(len, result.examples.values())) == 24 * heads.N_EXAMPLES
    at_once = bundled.heads(islice(phrase_book(), 40))
    assert_close(result.map("previous"), at_once.map("previous"), atol=1e-6, rtol=0)
    assert bundled.heads(["", *TEXTS, ""]).n_texts == len(TEXTS)
    for empty in ([], ["", ""]):
        with pytest.raises(ValueError, match="the corpus is empty"):
            bundled.heads(empty)


def test_a_table_goes_to_parquet_or_says_what_is_missing(bundled, tmp_path, monkeypatch):
    import pandas as pd

    result = bundled.heads(TEXTS)
    result.to_parquet(tmp_path / "heads.parquet")
    again = pd.read_parquet(tmp_path / "heads.parquet")
    assert_close(torch.tensor(again.previous.to_numpy()), result.map("previous").flatten())
    cut = Study(model_of("llama")).ablate(inputs_of("llama")[0], metric=lambda out: out.logit(5), at="residual")
    cut.to_parquet(tmp_path / "cut.parquet")
    assert pd.read_parquet(tmp_path / "cut.parquet").columns.tolist() == ["layer", "position", "value", "change"]
    assert "<table" in result._repr_html_()
    assert result.to_xarray().induction.to_numpy() == pytest.approx(result.map("induction").numpy())
    assert cut.to_xarray().change.shape == cut.values.shape
    monkeypatch.setattr(output, "find_spec", lambda name: None)
    calls = {
        "pandas": result.to_frame,
        "pyarrow": lambda: result.to_parquet(tmp_path / "x"),
        "xarray": result.to_xarray,
    }
    for package, call in calls.items():
        with pytest.raises(ImportError, match=f"{package} is not installed: pip install .attention-explorer.study"):
            call()


def test_all_described_architectures_stream_their_weights():
    for name in MODELS:
        result = Study(model_of(name)).heads(inputs_of(name))
        assert result.n_texts == 2
        assert not math.isnan(float(result.map("entropy")[1, 3]))


@pytest.mark.parametrize(
    ("name", "key", "shows"),
    [("induction", 1, True), ("induction", 0, False), ("previous token", 3, True), ("duplicate token", 0, True)],
)
def test_a_row_shows_a_pattern_where_the_key_is_the_one_that_the_name_tells(name, key, shows):
    assert Example(["red", " car", " and", " a", " red"], 4, key, 0.9).shows(name) is shows
