"""Why several heads, and a feed-forward part: what the page says of trainings, without a browser."""

import html
import json

import pytest

from attention_core.data.sentence_presets import LAYERED
from attention_core.evaluate import trained_forms as forms
from attention_core.models import build
from pages.transformer.experiments.several import NAMES
from tests.support.app import charts, html_of, set_fields, text_of


def rows(**scores):
    """Return trainings of the three forms, a row per seed, by their BLEU."""
    tests = {
        name: [{"bleu": score, "bleu_long": 9.0, "bleu_by_length": {"1-5": score}} for score in scores[name]]
        for name in scores
    }
    by_form = zip(NAMES, tests.values(), strict=True)
    return [
        {"form": form, "seed": seed, "parameters": 7, "test": test, "french": {}}
        for form, of_form in by_form
        for seed, test in enumerate(of_form)
    ]


@pytest.mark.parametrize(
    ("one", "without", "heads", "feed_forward"),
    [
        ([26.0, 28.0], [20.0, 20.5], "six heads of 32 are 3.0 BLEU better than one of 192", "is worth 9.8 BLEU"),
        ([31.0, 27.2], [29.1, 29.3], "six heads of 32 are no better than one of 192", "gains no more than chance"),
        ([33.0], [35.0], "six heads of 32 are 3.0 BLEU worse than one of 192", "costs 5.0 BLEU"),
    ],
)
def test_the_answer_follows_the_figures_and_takes_chance_for_nothing(
    visit, monkeypatch, tmp_path, one, without, heads, feed_forward
):
    (tmp_path / "forms.json").write_text(json.dumps({"rows": rows(usual=[29.5, 30.5], one=one, without=without)}))
    monkeypatch.setattr(forms, "COMMITTED", tmp_path / "forms.json")
    words = text_of(visit("transformer", question="several"))
    assert heads in words
    assert feed_forward in words


def test_missing_figures_are_told(visit, monkeypatch, tmp_path):
    monkeypatch.setattr(forms, "COMMITTED", tmp_path / "missing.json")
    page = visit("transformer", text="Tom helped Mary.", question="several")
    assert not charts(page)
    assert "Nothing was measured" in text_of(page)


def test_all_trainings_were_alike_and_are_drawn_with_what_they_answer(visit):
    measured = forms.trained_forms()
    assert measured.keys() == NAMES.keys()
    assert len({tuple(row["seed"] for row in trainings) for trainings in measured.values()}) == 1
    configs = {"": None, "n_heads-1": {"n_heads": 1}, "d_ff-0": {"d_ff": 0}}
    for form, trainings in measured.items():
        n_parameters = sum(
            parameter.numel() for parameter in build("translator-transformer", configs[form]).parameters()
        )
        assert {(row["epochs"], row["parameters"], row["test"]["n"]) for row in trainings} == {(1, n_parameters, 424)}
        assert all(row["french"].keys() == {*LAYERED.values()} for row in trainings)
    page = visit("transformer", text="Tom helped Mary.", question="several")
    table = html_of(page)
    for trainings in measured.values():
        assert ", ".join(f"{row['test']['bleu']:.1f}" for row in trainings) in table
        assert html.escape(trainings[0]["french"]["Tom helped Mary."]) in table
    assert len(charts(page)) == 1
    set_fields(page, text="Tom saw Mary.")
    assert "your sentence" not in html_of(page)
    assert "only their answers to the examples" in text_of(page)
