"""The data of a scene, against the trace that it is of."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from attention_core.attention.edits import BlockKeys, SetWeights
from attention_core.attention.scores import Additive
from attention_core.attention.types import Axis
from attention_core.attention.view.scene import N_NUMBERS, picture_scene_data, scene_data, show_scene, shown_dimensions
from tests.support.traces import make_trace, random_trace, trace_of

HEAD, ROWS = 1, [2, 0, 7]


def test_scores_and_weights_are_those_of_the_trace_for_the_chosen_queries():
    trace = make_trace()
    data = scene_data(trace, HEAD, queries=ROWS, query_labels=["a", "b", "c"], nouns=("French word", "English word"))
    assert data["scores"] == np.round(trace.scores(HEAD, ROWS).double().numpy(), 5).tolist()
    assert torch.tensor(data["weights"]) == pytest.approx(trace.weights(HEAD, ROWS).numpy(), abs=1e-4)
    assert np.exp(data["scores"]) / np.exp(data["scores"]).sum(1, keepdims=True) == pytest.approx(
        np.array(data["weights"]), abs=1e-4
    )
    assert (data["queries"], data["nouns"]) == (["a", "b", "c"], ("French word", "English word"))
    assert data["keys"] == list(trace.story.key_axis.labels)
    assert data["firsts"] == ROWS
    assert len(scene_data(trace)["queries"]) == trace.n_queries


def test_hidden_keys_have_no_score_and_those_that_an_edit_hides_are_told_apart():
    mask = torch.ones(11, 13, dtype=torch.bool)
    mask[:, 4] = False
    trace = make_trace(mask=mask).replace((BlockKeys((1,)),))
    data = scene_data(trace, HEAD, queries=ROWS)
    hidden = [[key for key, score in enumerate(row) if score is None] for row in data["scores"]]
    assert hidden == [[1, 4]] * 3
    assert data["cut"] == [[1]] * 3
    assert all(row[1] == row[4] == 0 for row in data["weights"])
    set_weights = make_trace().replace((SetWeights(2, ((3, 0.25),)),))
    row = scene_data(set_weights, HEAD, queries=ROWS)["weights"][0]
    assert row[3] == 0.25
    assert sum(row) == pytest.approx(1, abs=1e-3)


def test_numbers_are_those_that_vary_most_and_the_context_is_a_sum_of_those_of_the_values():
    generator = torch.Generator().manual_seed(1)
    query, key = torch.randn(1, 3, 20, generator=generator), torch.randn(1, 5, 20, generator=generator)
    value = torch.randn(1, 5, 31, generator=generator)
    trace = trace_of(query, key, value)
    numbers = scene_data(trace)["numbers"]
    dimensions = shown_dimensions(value[0].numpy())
    assert len(dimensions) == N_NUMBERS
    assert set(dimensions) == {*np.argsort(-value[0].numpy().var(0))[:N_NUMBERS]}
    weights = torch.tensor(scene_data(trace)["weights"], dtype=torch.float64)
    largest = value[0][:, dimensions].abs().max()
    mixture = weights @ torch.tensor(numbers["values"], dtype=torch.float64) * largest
    assert mixture.numpy() == pytest.approx(trace.context(0)[:, dimensions].numpy(), abs=0.01)
    assert numbers["sizes"] == [20, 20, 31]
    shown = shown_dimensions(key[0].numpy())
    product = query[0][:, shown] @ key[0][:, shown].T  # a query's numbers stand where those of a key do
    scaled = torch.tensor(numbers["queries"]) @ torch.tensor(numbers["keys"]).T
    assert (scaled / product).numpy() == pytest.approx(float((scaled / product)[0, 0]), rel=0.3)


def test_values_that_are_the_keys_are_sent_once_and_few_numbers_are_all_sent():
    numbers = scene_data(trace_of(torch.ones(1, 2, 3), torch.eye(3)[None]))["numbers"]
    assert numbers["values"] is None
    assert numbers["keys"] == torch.eye(3).tolist()


def test_queries_of_another_size_and_shared_keys_have_their_own_numbers():
    generator = torch.Generator().manual_seed(2)
    score = Additive(*(torch.randn(*shape, generator=generator) for shape in ((4, 6), (4, 9), (4,))))
    additive = random_trace((1, 3, 6), (1, 5, 9), (1, 5, 9), score=score)
    assert [len(scene_data(additive)["numbers"][name][0]) for name in ("queries", "keys")] == [6, 9]
    shared = random_trace((4, 3, 6), (2, 5, 6), (2, 5, 7))
    assert scene_data(shared, 3)["numbers"] == scene_data(shared, 3, queries=range(3))["numbers"]
    assert scene_data(shared, 3)["numbers"]["keys"] != scene_data(shared, 0)["numbers"]["keys"]


def test_without_a_softmax_there_is_no_scene():
    with pytest.raises(ValueError, match="softmax"):
        scene_data(replace(make_trace(), has_softmax=False))


def test_a_notebook_gets_a_scene_that_needs_no_network():
    view = show_scene(make_trace(), HEAD, query=4)
    page = view.page()
    assert "class SceneView" in page
    assert "class RecordingView" not in page
    assert (view.data["query"], view.data["plays"]) == (4, True)


def test_looks_at_a_picture_have_their_scores_weights_and_words_and_other_keys_come_last():
    generator = torch.Generator().manual_seed(2)
    query, key = torch.randn(1, 1, 4, generator=generator), torch.randn(1, 7, 4, generator=generator)
    regions = Axis("regions", [*Axis.picture("regions", 2, 3).labels, "∅"], grid=(2, 3))
    look = trace_of(query, key, keys=regions)
    looks = [look, look.replace((BlockKeys((2,)),))]
    words = [[("which", 0.25), ("digit", 0.75)]] * 2
    data = picture_scene_data(looks, "data:,", words, [("7", 0.9, "")], [("3", 0.8, "#ff0000")])
    assert (data["grid"], data["query"], data["answer"]) == ([2, 3], 1, [("7", 0.9, "")])
    assert [look["label"] for look in data["looks"]] == ["look 1", "look 2"]
    for look, trace in zip(data["looks"], looks, strict=True):
        assert look["weights"] == pytest.approx(trace.weights()[0].tolist(), abs=1e-4)
        assert len(look["scores"]) == 7
        assert look["words"] == words[0]
    assert data["looks"][1]["scores"][2] is None
    with pytest.raises(ValueError, match="regions"):
        picture_scene_data([make_trace()], "data:,", words[:1], [])
