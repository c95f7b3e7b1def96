"""Orders of importance through layers, each against a computation of its own on a small random transformer."""

from dataclasses import replace

import pytest
import torch

from attention_core.attention.edits import DropHead
from attention_core.explain.heads import rollout
from attention_core.faithfulness import stacks
from attention_core.faithfulness.attribution import Subject, confidence, total_variation
from attention_core.faithfulness.subjects import translation_subject
from attention_core.faithfulness.variation import without_heads
from attention_core.models.transformer import Transformer, TransformerConfig
from attention_core.models.translator import Labels

SOURCE, TARGET = torch.tensor([5, 9, 7, 11, 3]), torch.tensor([8, 6, 12])
WORD_OF = (0, 1, 2, 3, 4)  # the last is the end


@pytest.fixture(scope="module")
def model() -> Transformer:
    torch.manual_seed(0)
    return Transformer(TransformerConfig(n_layers=2, n_heads=2, d_model=16, d_ff=24)).eval().requires_grad_(False)


@pytest.fixture(scope="module")
def subject(model) -> Subject:
    return translation_subject(model, SOURCE, TARGET, WORD_OF, ("a", "b", "c", "d"))


@pytest.fixture(scope="module")
def fed() -> torch.Tensor:
    from attention_core.data.pieces import START

    return torch.cat((torch.tensor([START]), TARGET[:-1]))


def test_true_weights_give_the_model_s_own_answer_and_a_head_is_worth_its_answer_without_it(model, subject, fed):
    true_weights = {name: weights[None] for name, weights in subject.weights.items()}
    expected = model(SOURCE[None], fed[None]).logits.softmax(-1)
    torch.testing.assert_close(subject.reweigh(true_weights), expected, atol=1e-5, rtol=1e-4)
    assert list(subject.map_weights) == ["cross 1", "cross 2"]
    distances, answers = without_heads(subject), subject.probabilities()
    assert len(distances) == 3 * 2 * 2
    assert list(distances.values()) == sorted(distances.values(), reverse=True)
    for (name, head), moved in distances.items():
        kind, layer = name.split()
        without = model(SOURCE[None], fed[None], edits={(kind, int(layer) - 1): (DropHead(head),)})
        assert moved == pytest.approx(float(total_variation(without.logits.softmax(-1), answers)), abs=1e-5)


def test_rollout_is_that_of_the_traces_and_the_attention_on_what_they_made(model, subject, fed):
    labels = Labels([str(piece) for piece in SOURCE.tolist()], [str(piece) for piece in fed.tolist()])
    with torch.no_grad():
        traces = model(SOURCE[None], fed[None], labels=labels).traces
    rolled = torch.as_tensor(rollout(traces[:2]).rolled)
    crossed = torch.stack([torch.stack([one.weights(0), one.weights(1)]).mean(0) for one in (traces[3], traces[5])])
    expected = (crossed.mean(0) @ rolled).mean(0)[:4]
    torch.testing.assert_close(stacks.stack_orders(subject)[stacks.ROLLOUT], expected.float(), atol=1e-5, rtol=1e-4)


def test_length_is_that_of_what_one_word_alone_hands_over(model, subject):
    expected = torch.zeros(len(SOURCE))
    states = model.encode(SOURCE[None]).states[0]
    for layer, name in zip(model.decoder, subject.map_weights, strict=True):
        values = layer.cross.value(states).view(-1, 2, 8)
        for query in range(len(TARGET)):
            for key in range(len(SOURCE)):
                heads = [subject.weights[name][head, query, key] * values[key, head] for head in range(2)]
                expected[key] += (layer.cross.merge.weight @ torch.cat(heads)).norm() / len(TARGET) / 2
    lengths = stacks.stack_orders(subject)[stacks.LENGTH]
    torch.testing.assert_close(lengths, expected[:4].detach(), atol=1e-5, rtol=1e-4)


def test_value_zeroing_is_the_layer_run_with_that_value_zero(model, subject):
    for place, layer in enumerate(model.encoder):
        states = model.embed(SOURCE[None])
        for earlier in model.encoder[:place]:
            states = earlier(states)[0]
        unchanged, turned = layer(states)[0][0], []
        for key in range(len(SOURCE)):
            gone = torch.ones(1, len(SOURCE), 1)
            gone[0, key] = 0
            hook = layer.attention.value.register_forward_hook(lambda *call, gone=gone: call[-1] * gone)
            turned.append(1 - torch.cosine_similarity(layer(states)[0][0], unchanged, dim=-1))
            hook.remove()
        expected = torch.stack(turned, 1)
        zeroing = stacks.value_zeroing(subject.stack[f"encoder {place + 1}"])
        torch.testing.assert_close(zeroing, expected / expected.sum(1, keepdim=True), atol=1e-4, rtol=1e-3)


def test_attention_times_gradient_is_the_answer_s_slope_and_a_single_layer_has_no_orders(subject):
    maps, small = stacks.attention_times_gradient(subject), 1e-2
    answer = subject.probabilities().argmax(-1)
    for name in ("encoder 2", "decoder 1", "cross 1"):
        weights, expected = subject.weights[name], torch.zeros_like(subject.weights[name])
        for cell in (weights > 0).nonzero():
            values_at = []
            for sign in (1, -1):
                moved = weights.clone()
                moved[tuple(cell)] += sign * small
                values_at.append(float(confidence(subject.reweigh({name: moved[None]}), answer)))
            expected[tuple(cell)] = weights[tuple(cell)] * (values_at[0] - values_at[1]) / (2 * small)
        torch.testing.assert_close(maps[name], expected.clamp(min=0).mean(0), atol=1e-5, rtol=2e-2)
    assert stacks.stack_orders(replace(subject, stack={})) == {}
