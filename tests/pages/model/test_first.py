"""Why does everybody look at the first token: its figures against a run of our own, without a browser."""

import pytest

from attention_core.attention.edits import BlockKeys
from attention_core.attention.wording import percent
from attention_core.hub.outputs import expected
from attention_core.hub.run import run, text_inputs
from attention_core.inference.pretrained import load_bundled
from tests.support.app import html_of, rerun, set_fields, text_of

TEXT = "He was reading a newspaper when the phone"


@pytest.fixture
def short(visit, monkeypatch):
    visit("model")  # a component is declared by an app alone
    monkeypatch.setattr("pages.model.experiments.first.N_SENTENCES", 2)


def test_a_head_looks_at_the_first_token_and_takes_nothing(visit, short):
    page = visit("model", model="tatoeba-llama", text_decoder=TEXT, question="first")
    pretrained = load_bundled("tatoeba-llama")
    inputs = text_inputs(pretrained, TEXT)
    trace = run(pretrained, inputs).recording[3]
    lengths, weight = trace.value_of(5).norm(dim=-1), float(trace.weights(5)[1:, 0].mean())
    assert weight > 0.9
    shorter = float(lengths[1:].mean() / lengths[0])
    assert shorter > 7
    assert f"head 3.5 gives `<start>` {percent(weight)}" in text_of(page)
    assert f"{shorter:.1f} times shorter" in text_of(page)
    kept_away = run(pretrained, inputs, edits={3: (BlockKeys(head=5, keys=(0,)),)})
    token = expected(kept_away.logits[-1], pretrained.tokenizer, n=1).likeliest[0]
    assert f"{token.text.strip('␣')} {percent(token.probability)}" in html_of(page)
    assert "2 other sentences" in html_of(page)
    set_fields(page, text_decoder="No")
    assert "nothing else to look at" in text_of(page)
    assert not page.exception


def test_a_model_that_reads_both_ways_is_exchanged_by_a_button(visit, short):
    page = visit("model", question="first")
    assert "a decoder alone" in text_of(page)
    page.button(key="model_take_small").click()
    rerun(page)
    assert "head 3.5" in text_of(page)
    assert page.query_params["model"] == "tatoeba-llama"
