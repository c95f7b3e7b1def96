"""The glossary: which words are its terms. That each page explains those it shows is in test_figures.py."""

from ui.labels import TERMS, explain, terms_in


def test_terms_are_found_as_words_and_nothing_else():
    assert terms_in("Softmax and the gradients; a gated recurrent unit") == ["softmax", "gradient", "GRU"]
    assert terms_in("a blogroll out of logistics, grunt") == []
    assert explain("nothing here") is None
    assert TERMS["BLEU"] in (explain("BLEU against length") or "")
