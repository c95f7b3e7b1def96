"""An edit inside the attention changes everything downstream of it, and nothing upstream."""

import pytest
import torch
from torch.testing import assert_close

from attention_core import UNIFORM, BlockKeys, DropHead, SetScore, Temperature, load
from attention_core.attention.steps import step_of, steps_of
from attention_core.models import build


@pytest.fixture(scope="module")
def model():
    return load("pixel-classifier", "cpu")


@pytest.fixture(scope="module")
def image():
    picture = torch.zeros(28, 28)
    picture[5:7, 8:20] = picture[5:24, 17:20] = 1
    return picture


@pytest.mark.parametrize(
    "edits",
    [
        UNIFORM,
        (Temperature(2.0),),
        (BlockKeys(tuple(range(140, 200))),),
        (DropHead(0),),
        tuple(SetScore(query, 410, 60.0, head=0) for query in range(0, 784, 3)),
    ],
    ids=["uniform", "softer", "blocked keys", "ablated head", "edited scores"],
)
def test_edit_changes_context_features_and_answer_but_not_queries(model, image, edits):
    with torch.inference_mode():
        plain = model(image[None], trace=True)
        edited = model(image[None], edits=edits, trace=True)
        untraced = model(image[None], edits=edits)
    before, after = plain.traces[0], edited.traces[0]
    for name in ("pixels", "embedding", "query", "key", "value"):
        assert_close(step_of(before, name).value(), step_of(after, name).value())
    for name in ("context", "relative", "ffn", "class"):
        assert not torch.allclose(step_of(before, name).value(), step_of(after, name).value(), atol=1e-6), name
    assert not torch.allclose(plain.logits, edited.logits, atol=1e-6)
    assert_close(edited.logits, untraced.logits, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("side", [28, 14])
def test_traced_call_gives_the_same_logits_as_an_untraced_one(model, side):
    images = torch.rand(3, side, side, generator=torch.Generator().manual_seed(side))
    with torch.inference_mode():
        traced, untraced = model(images, trace=True), model(images)
    assert_close(traced.logits, untraced.logits, atol=1e-4, rtol=1e-4)
    assert len(traced.traces) == 1
    assert untraced.traces == ()


def test_steps_lead_from_pixels_to_the_answer_explain_themselves_and_show_edited_weights(model, image):
    names = [step.name for step in steps_of(model.trace(image))]
    wanted = ["pixels", "embedding", "query", "key", "value", "scores", "scaled", "weights", "context", "ffn", "class"]
    assert [name for name in names if name in wanted] == wanted
    steps = steps_of(model.trace(image))
    assert len({step.name for step in steps}) == len(steps)
    for step in steps:
        assert tuple(step.value().shape) == step.shape
        assert all((step.title, step.symbol, step.formula, step.code, step.explanation))
        assert step.value().isfinite().all()
    with torch.inference_mode():
        prediction = model(image[None], trace=True)
    assert_close(steps_of(prediction.traces[0])[-1].value()[0], prediction.logits.softmax(-1)[0])
    assert_close(model.trace(image, UNIFORM).weights(0), torch.full((784, 784), 1 / 784))
    blocked = model.trace(image, (BlockKeys((7, 400)),))
    assert (blocked.weights(0)[:, [7, 400]] == 0).all()


@pytest.mark.parametrize("shape", [(28, 28), (1, 27, 28), (1, 20, 20), (1, 1, 28, 28)])
def test_pictures_of_another_size_are_refused(shape):
    with pytest.raises(ValueError, match="28, 28"):
        build("pixel-classifier")(torch.zeros(shape))


def test_uniform_attention_leaves_an_untrained_model_just_as_blind_as_a_trained_one(model, image):
    """Nothing goes around the attention: with uniform weights every pixel collects the same values."""
    context = model.trace(image, UNIFORM).context(0)
    assert_close(context, context[:1].expand_as(context), atol=1e-3, rtol=1e-3)


def test_feed_forward_network_answers_and_has_nothing_to_trace():
    prediction = load("ffn-classifier", "cpu")(torch.rand(2, 28, 28), trace=True)
    assert prediction.logits.shape == (2, 10)
    assert prediction.traces == ()
