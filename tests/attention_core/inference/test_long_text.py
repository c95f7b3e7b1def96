"""A long text in windows: the same numbers as the model's own in one window, and the sentences that return."""

import pytest
import torch

from attention_core.data.language_pieces import WINDOW
from attention_core.data.phrase_book import phrase_book
from attention_core.hub.tracing import trace_model
from attention_core.inference.long_text import ECHO, N_LAYERS, in_pieces, read_in_windows, strongest_echo
from attention_core.models import load


@pytest.fixture(scope="module")
def text():
    return in_pieces(phrase_book()[:120])


@pytest.mark.parametrize("layer", range(N_LAYERS))
def test_first_window_is_read_as_the_model_itself_reads_it(text, layer):
    expected = trace_model(load("tatoeba-llama", "cpu"), input_ids=text.ids[None, :WINDOW])[layer]
    trace = read_in_windows(text, layer)
    for head in range(trace.n_heads):
        weights = trace.weights(head, slice(0, WINDOW), slice(0, WINDOW))
        torch.testing.assert_close(weights.cpu(), expected.weights(head).cpu(), atol=1e-5, rtol=1e-4)


def test_texts_know_their_words_read_nothing_that_follows_and_their_rows_sum_to_one(text):
    trace = read_in_windows(text, 3)
    weights = trace.weights(5, slice(500, 600))
    torch.testing.assert_close(weights.sum(1), torch.ones_like(weights[:, 0]), atol=1e-4, rtol=0)
    assert ((weights > 0).sum(1) == WINDOW).all()
    plain = trace.masked_scores(5, slice(500, 600)).logsumexp(1)
    torch.testing.assert_close(trace.log_normaliser[5, 500:600], plain)
    shorter = in_pieces(phrase_book()[:60])
    n = len(shorter.ids)
    long, short = (read_in_windows(one, 2).weights(0, slice(n - 50, n), slice(0, n)) for one in (text, shorter))
    torch.testing.assert_close(long, short, atol=1e-5, rtol=1e-4)
    assert len(text.ids) == len(text.labels) == len(text.sentence_of)
    second = [label for label, number in zip(text.labels, text.sentence_of, strict=True) if number == 1]
    assert "".join(second) == f" {phrase_book()[1]}"


def test_an_echo_is_found_where_something_returns_and_nowhere_else():
    text = in_pieces(phrase_book())
    layer, head = ECHO
    echo = strongest_echo(text, read_in_windows(text, layer), head)
    same, followed, before = echo.shares
    assert followed > 0.4
    assert followed > 10 * max(same, before)
    assert text.ids[echo.followed - 1] == text.ids[echo.query]
    assert echo.first.stop == echo.second.start
    text = in_pieces(["Only one sentence."])
    assert strongest_echo(text, read_in_windows(text, 0), 0) is None
