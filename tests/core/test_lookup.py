"""Look-up, exact and soft, against numpy in float64 and Python's own dictionary."""

import random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.attention.export import trace_to_npz
from attention_core.attention.script import trace_to_code
from attention_core.attention.steps import step_of
from attention_core.explain.arithmetic import cell_formula
from attention_core.topics.lookup.encoders import WIDTH, embed, ngrams, place_of, plain, shared_runs
from attention_core.topics.lookup.soft_lookup import (
    Records,
    exact_lookup,
    fit_for_recall,
    garble,
    recall_among_noise,
    regression,
    soft_lookup,
    temperature_sweep,
    value_labels,
)

words = st.text("abcdefgh ", min_size=1, max_size=12).filter(str.strip)
numbers = st.floats(-50, 50).map(lambda one: round(one, 3))
SEEDS = st.integers(0, 999)


def softmax(scores):
    exponentials = np.exp(scores - scores.max(1, keepdims=True))
    return exponentials / exponentials.sum(1, keepdims=True)


def vector_by_hand(text):
    """The embedding of a text of plain lower-case words, run by run."""
    vector = np.zeros(WIDTH)
    counts = {}
    for word in text.split():
        marked = f"_{word}_"
        for size in (2, 3):
            for start in range(len(marked) - size + 1):
                run = marked[start : start + size]
                counts[run] = counts.get(run, 0) + 1
    for run, count in counts.items():
        column, sign = place_of(run)
        vector[column] += sign * np.sqrt(count)
    length = np.linalg.norm(vector)
    return vector / length if length else vector


@given(words)
def test_embedding_is_the_hashed_count_of_runs(text):
    np.testing.assert_allclose(embed([text])[0].numpy(), vector_by_hand(text), atol=1e-10)


def test_runs_of_a_word_written_out():
    assert ngrams("To be") == dict.fromkeys(["_t", "to", "o_", "_to", "to_", "_b", "be", "e_", "_be", "be_"], 1)
    assert plain("  René   DESCARTES!") == "rene descartes"
    assert shared_runs("cat", "car") == ["_ca", "_c", "ca"]


def test_the_hash_is_the_same_on_every_machine():
    assert [place_of(run) for run in ("_at", "ten")] == [place_of(run) for run in ("_at", "ten")]
    assert place_of("_at") == (322, -1)


def test_a_text_without_letters_is_a_zero_vector_and_looks_everywhere_alike():
    records = Records(("ab", "cd", "ef"), (1.0, 2.0, 6.0))
    trace = soft_lookup(records, ["?!"], 0.05)
    assert (trace.query == 0).all()
    assert trace.context().item() == pytest.approx(3)


@given(st.lists(words, min_size=1, max_size=8), st.lists(words, min_size=1, max_size=4), st.floats(0.01, 3), SEEDS)
def test_soft_look_up_among_texts(keys, queries, temperature, seed):
    values = np.random.default_rng(seed).normal(size=len(keys))
    trace = soft_lookup(Records(tuple(keys), tuple(values.tolist())), queries, temperature)
    cosines = np.stack([vector_by_hand(one) for one in queries]) @ np.stack([vector_by_hand(one) for one in keys]).T
    expected = softmax(cosines / temperature)
    np.testing.assert_allclose(step_of(trace, "scores").value().numpy(), cosines, atol=1e-10)
    np.testing.assert_allclose(trace.weights().numpy(), expected, atol=1e-10)
    np.testing.assert_allclose(trace.context()[:, 0].numpy(), expected @ values, atol=1e-10)


@given(st.lists(numbers, min_size=1, max_size=20), st.lists(numbers, min_size=1, max_size=5), st.floats(0.1, 30), SEEDS)
def test_soft_look_up_among_numbers_is_the_regression_of_nadaraya_and_watson(keys, queries, width, seed):
    values = np.random.default_rng(seed).normal(size=len(keys))
    trace = soft_lookup(Records(tuple(keys), tuple(values.tolist())), queries, width**2)
    distance = np.asarray(queries)[:, None] - np.asarray(keys)[None]
    expected = softmax(-(distance**2) / (2 * width**2))
    np.testing.assert_allclose(trace.weights().numpy(), expected, atol=1e-10)
    np.testing.assert_allclose(trace.context()[:, 0].numpy(), expected @ values, atol=1e-10)
    np.testing.assert_allclose(step_of(trace, "scores").value().numpy(), -0.5 * distance**2, atol=1e-10)
    last = step_of(trace, "scaled").value().numpy()
    np.testing.assert_allclose(last, trace.scores().numpy(), atol=1e-10, err_msg="the last stage is the score")


def test_texts_as_values_come_back_as_shares_of_each_different_text():
    records = Records(("ab", "ab ab", "xy"), ("red", "red", "blue"))
    trace = soft_lookup(records, ["ab"], 0.02)
    assert value_labels(records) == ["red", "blue"]
    assert trace.context()[0].tolist() == pytest.approx([1, 0], abs=1e-6)
    assert trace.context().sum().item() == pytest.approx(1)


def test_temperature_takes_look_up_into_plain_average():
    records = Records(("apple", "pear", "plum"), (1.0, 2.0, 6.0))
    cold, hot = temperature_sweep(records, "pear", [1e-3, 1e6])
    assert cold.tolist() == pytest.approx([0, 1, 0])
    assert hot.tolist() == pytest.approx([1 / 3] * 3, abs=1e-5)
    assert soft_lookup(records, ["pear"], 1e-3).context().item() == exact_lookup(records, ["pear"])[0].value


def test_dictionary_hits_or_misses_and_keeps_the_last_of_equal_keys():
    records = Records(("a", "b", "a"), (1.0, 2.0, 3.0))
    assert exact_lookup(records, ["a", "b", "A"]) == [(True, 3.0), (True, 2.0), (False, None)]
    assert exact_lookup(Records((1.5, 2.0), ("x", "y")), [1.5, 1.6]) == [(True, "x"), (False, None)]


def test_regression_curve_is_the_look_up_of_every_place():
    source = np.random.default_rng(1)
    keys, values = source.uniform(0, 10, 15), source.normal(size=15)
    grid, curve = regression(Records(tuple(keys.tolist()), tuple(values.tolist())), 0.3**2, n=50)
    assert (grid[0], grid[-1]) == (pytest.approx(keys.min()), pytest.approx(keys.max()))
    expected = softmax(-((grid.numpy()[:, None] - keys) ** 2) / (2 * 0.3**2)) @ values
    np.testing.assert_allclose(curve.numpy(), expected, atol=1e-10)
    with pytest.raises(ValueError, match="needs numbers"):
        regression(Records(("a",), (1.0,)), 1)


def test_garbled_letters_are_always_other_letters_and_spaces_stay():
    noisy = garble("ab cd", 1, random.Random(0))
    assert noisy[2] == " "
    assert all(a != b for a, b in zip("abcd", noisy.replace(" ", ""), strict=True))
    assert garble("ab cd", 0, random.Random(0)) == "ab cd"


def test_soft_recall_outlives_exact_recall_when_keys_are_noisy():
    keys = ["Ada Lovelace", "Alan Turing", "Grace Hopper", "Emmy Noether", "Leonhard Euler"]
    clean, noisy = recall_among_noise(keys, 0.05, [0, 0.3], n_repeats=4)
    assert (clean.exact, clean.soft) == (1, 1)
    assert noisy.exact < 0.2
    assert noisy.soft > 0.7
    with pytest.raises(ValueError, match="different"):
        recall_among_noise(["a", "a"], 0.05, [0])


def test_many_long_keys_are_bounded_before_noise_is_drawn():
    assert fit_for_recall(["a", "b", "a"]) == (("a", "b"), 3)
    kept, n_repeats = fit_for_recall([f"{n:03d}" * 200 for n in range(64)])
    assert (len(kept), n_repeats) == (10, 1)
    assert len(fit_for_recall(["x" * 10_000])[0]) == 1


def test_numbers_of_a_cell_are_those_of_the_trace():
    trace = soft_lookup(Records((1.0, 2.5), (3.0, 4.0)), [2.0], 0.16)
    assert cell_formula(trace, step_of(trace, "scores"), 0, 0, 0).endswith("(2 - 1)^2 = -0.5")
    assert cell_formula(trace, step_of(trace, "scaled"), 0, 0, 1).endswith(f"= {float(trace.scores()[0, 1]):.3g}")


@pytest.mark.parametrize(
    ("queries", "temperature", "words"),
    [([], 1, "at least one"), ([1.0], 1, "must be texts"), (["a"], 0, "above 0"), (["a"], float("nan"), "above 0")],
)
def test_wrong_queries_and_temperatures_are_refused_in_words(queries, temperature, words):
    with pytest.raises(ValueError, match=words):
        soft_lookup(Records(("a", "b"), (1.0, 2.0)), queries, temperature)


def test_exported_script_recomputes_the_look_up(tmp_path):
    trace = soft_lookup(Records((1.0, 2.0, 4.0), (1.0, 0.0, 5.0)), [1.4], 0.25)
    (tmp_path / "trace.npz").write_bytes(trace_to_npz(trace))
    arrays = np.load(tmp_path / "trace.npz")
    weights = softmax(arrays["scores"][0])
    np.testing.assert_allclose(weights @ arrays["value"][0], arrays["context"][0], atol=1e-10)
    assert "nearness" in trace_to_code(trace)


def test_records_must_be_as_many_keys_as_values():
    with pytest.raises(ValueError, match="got 2 and 1"):
        Records(("a", "b"), (1.0,))
    assert torch.equal(embed([]), torch.zeros(0, WIDTH, dtype=torch.float64))
