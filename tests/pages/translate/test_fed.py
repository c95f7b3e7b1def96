"""Input feeding: a translator with the arrow, one without, and the arrow switched off, without a browser."""

import re

import pytest

from attention_core.inference.translation import read_source, translate
from attention_core.models import load
from attention_core.weights import read_card
from pages.translate.experiments.fed import ALMOST
from tests.support.app import charts, frames, html_of, set_fields

TEXT = "The red car is in front of the white house."


def test_figures_and_french_are_those_of_the_three_translators(visit):
    page = visit("translate", text=TEXT, question="fed")
    plain, fed = (load(f"translator-{name}", "cpu") for name in ("dot", "input-feeding"))
    source, card = read_source(TEXT), read_card("translator-input-feeding")
    french = [translate(model, source).text for model in (plain, fed, fed.without_feeding())]
    rows = re.findall(r"<tr><td>[^<]*</td><td>([^<]*)</td>.*?<td[^>]*>([^<]*)</td></tr>", html_of(page))
    figures = [read_card("translator-dot")["test"], card["test"], card["without_feeding"]]
    assert [*zip(*rows, strict=True)] == [tuple(f"{each['bleu']:.1f}" for each in figures), tuple(french)]
    without, fed, off = (each["bleu"] for each in figures)
    assert fed - without < ALMOST < fed - off, "it gains nothing, and is needed"
    assert len(charts(page)) == 1


@pytest.mark.parametrize("text", ["Yes", "why " * 24, "Zorglub hates chihuahuas"])
def test_odd_sentences_are_translated_with_the_arrow_and_without_it(visit, text):
    page = visit("translate", question="fed", text=text)
    for is_on in (True, False):
        set_fields(page, arrow=is_on)
        assert not page.exception
        assert len(re.findall(r'<td class="fr" lang="fr">[^<]', html_of(page))) == 3


def test_switched_on_an_arrow_leads_to_each_next_state(visit):
    page = visit("translate", text=TEXT, question="fed")

    def n_wires() -> int:
        return len(next(frame for frame in frames(page) if "width" in frame))

    n, n_pieces = n_wires(), len(translate(load("translator-input-feeding", "cpu"), read_source(TEXT)).ids)
    assert n > n_pieces
    set_fields(page, arrow=False)
    assert n_wires() < n
