"""A map of scores is the sum of its channels; edits of a mask lead where the model itself would go."""

import re

import pytest
import torch

from attention_core.attention.edits import UNIFORM, BlockKeys
from attention_core.attention.steps import step_of
from attention_core.attention.view.pack import step_data
from attention_core.inference import feature_channels as find
from attention_core.models.feature_mask import FeatureMask, FeatureMaskConfig
from attention_core.models.features import Layer


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(3)
    config = FeatureMaskConfig(side=20, layers=(Layer(7, 2), Layer(11, 2)), d_hidden=13)
    classifier = FeatureMask(config).eval().requires_grad_(False)
    torch.nn.init.normal_(classifier.query, std=3)
    return classifier


@pytest.fixture(scope="module")
def picture():
    return torch.rand(20, 20, generator=torch.Generator().manual_seed(5))


@pytest.fixture(scope="module")
def trace(model, picture):
    return model.trace(picture)


def test_weighted_channels_add_up_to_the_scores(trace):
    scores = trace.scores()[0].reshape(5, 5)
    maps = trace.key[0].T.reshape(11, 5, 5)
    torch.testing.assert_close((maps * trace.query[0, 0, :, None, None]).sum(0), scores)
    data = step_data(trace, step_of(trace, "key"), column_indices=find.order_of(trace)[:3])
    assert (data["shape"], data["grid"], data["flat"]) == ([25, 3], [5, 5], False)
    assert data["columns"] == tuple(str(channel + 1) for channel in find.order_of(trace)[:3])
    data = step_data(trace, step_of(trace, "scores"))
    assert (data["kind"], data["shape"], data["grid"], data["flat"]) == ("product", [1, 25], [5, 5], True)


def test_strongest_channel_comes_first_and_a_constant_one_pulls_nothing(trace):
    order, pull = find.order_of(trace), find.pulls(trace)
    assert sorted(order) == list(range(11))
    sizes = [abs(float(pull[one])) for one in order]
    assert sizes == sorted(sizes, reverse=True)
    assert torch.equal(pull.sign(), trace.query[0, 0].sign() * (pull != 0))
    flat = trace.key.clone()
    flat[..., 2] = 4.0
    object.__setattr__(trace, "key", flat)
    try:
        assert float(find.pulls(trace)[2]) == pytest.approx(0, abs=1e-6)
    finally:
        object.__setattr__(trace, "key", trace.value)


@pytest.mark.parametrize("region", [0, 7, 24])
def test_products_and_their_rest_add_up_to_the_score(trace, region):
    formula = find.score_formula(trace, region)
    assert rf"S_{{{region + 1}}}" in formula
    assert r"\text{the other 8}" in formula
    products = [
        float(f"{sign}{weight}") * float(feature)
        for sign, weight, feature in re.findall(r"([-+]?) ?([\d.]+) \\cdot (-?[\d.]+)", formula)
    ]
    assert len(products) == 3
    assert products == sorted(products, key=abs, reverse=True)
    sign, remainder, score = re.search(r"([-+]) \\underbrace\{([\d.]+)\}.* = (-?[\d.]+)", formula).groups()
    assert float(score) == pytest.approx(float(trace.scores()[0, region]), rel=0.01)
    assert sum(products) + float(sign + remainder) == pytest.approx(float(score), abs=0.05)


@pytest.mark.parametrize("edit", [(), UNIFORM, (BlockKeys((3, 11, 12)),)])
def test_answer_after_an_edit_is_the_one_that_the_whole_network_gives(model, picture, trace, edit):
    answer = step_of(model.trace(picture, edit), "output").value()[0]
    torch.testing.assert_close(model.answer(trace, edit), answer)
    assert float(model.answer(trace, edit).sum()) == pytest.approx(1, abs=1e-5)
