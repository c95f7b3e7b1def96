"""Softmaxes that are written out, signed weights, and what is no attention."""

import pytest
import torch
import torch.nn.functional as F
import transformers as hf
from torch import nn
from torch.testing import assert_close

from attention_core import capture, load_recording
from tests.support.tiny_models import GPT, PLAIN, SIZES, build

B, H, N, D = 2, 3, 6, 4
CAUSAL = torch.ones(N, N, dtype=torch.bool).tril()


def vectors():
    return torch.randn(3, B, H, N, D, generator=torch.Generator().manual_seed(0)).mul(1.5).unbind()


def log_softmax(s, v):
    return s.log_softmax(-1).exp() @ v


def exp_over_sum(s, v):
    powers = (s - s.amax(-1, keepdim=True)).exp()
    return (powers / powers.sum(-1, keepdim=True)) @ v


def exp_in_place(s, v):
    powers = s.sub(s.max(-1, keepdim=True)[0]).exp_()
    powers /= powers.sum(-1, keepdim=True) + 1e-9
    return powers @ v


def minus_logsumexp(s, v):
    return torch.exp(s - s.logsumexp(-1, keepdim=True)) @ v


def normalised_by_l1(s, v):
    return F.normalize(s.exp(), p=1, dim=-1) @ v


def normalised_after_the_product(s, v):
    powers = s.exp()
    return powers @ v / powers.sum(-1, keepdim=True)


def normalised_after_in_another_shape(s, v):
    powers = torch.exp(s - s.amax(-1, keepdim=True))
    return (powers @ v).transpose(1, 2) / powers.sum(-1).transpose(1, 2)[..., None]


BY_HAND = [
    *(log_softmax, exp_over_sum, exp_in_place, minus_logsumexp, normalised_by_l1),
    *(normalised_after_the_product, normalised_after_in_another_shape),
]


@pytest.mark.parametrize("grad", [torch.enable_grad, torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("masks", [False, True])
@pytest.mark.parametrize("softmax", BY_HAND)
def test_a_softmax_by_hand_is_seen_in_a_class_of_any_name(softmax, masks, grad):
    class Block(nn.Module):
        def forward(self, q, k, v):
            s = q @ k.mT * D**-0.5
            out = softmax(s.masked_fill(~CAUSAL, -torch.inf) if masks else s, v)
            return (out if out.shape[1] == N else out.transpose(1, 2)).flatten(2)

    q, k, v = vectors()
    with grad(), capture(item=1) as recording:
        Block()(q, k, v)
    (trace,) = recording
    expected = (q @ k.mT * D**-0.5).masked_fill(~CAUSAL & torch.tensor(masks), -torch.inf).softmax(-1)[1]
    for head in range(H):
        assert_close(trace.weights(head), expected[head], atol=1e-5, rtol=0)
        assert_close(trace.scores(head), (q @ k.mT * D**-0.5)[1, head], atol=1e-5, rtol=0)
    assert torch.equal(trace.query, q[1])
    assert "Item 1 of 2" in trace.story.note


def test_a_mask_after_the_exponential_is_a_mask_and_a_share_may_be_left_unspent():
    q, k, v = vectors()
    with capture() as recording:
        powers = (q @ k.mT).exp() * CAUSAL
        powers / powers.sum(-1, keepdim=True) @ v
    assert_close(recording[0].weights(2), (q @ k.mT).masked_fill(~CAUSAL, -torch.inf).softmax(-1)[0, 2])
    assert torch.equal(recording[0].query, q[0])
    with capture() as recording:
        powers = (q @ k.mT).exp()
        powers / (1 + powers.sum(-1, keepdim=True)) @ v
    powers = (q @ k.mT).exp()[0, 1]
    assert_close(recording[0].weights(1), powers / (1 + powers.sum(-1, keepdim=True)), atol=1e-5, rtol=0)


def test_signed_weights_are_kept_as_they_are(tmp_path):
    q, k, v = vectors()
    weights = (q @ k.mT).softmax(-1) - 0.8 * (k @ q.mT).softmax(-1)
    with capture() as recording:
        ((q @ k.mT).softmax(-1) - 0.8 * (k @ q.mT).softmax(-1)) @ v
    recording.save(tmp_path / "run.npz")
    for (trace,) in (recording, load_recording(tmp_path / "run.npz")):
        assert not trace.has_softmax
        assert_close(trace.weights(1), weights[0, 1])
        assert_close(trace.context(1), (weights @ v)[0, 1])
        assert "negative" in trace.story.note
    assert recording.show().data["error"] < 0.002


class Experts(nn.Module):
    """All experts answer, and each position mixes them."""

    def __init__(self):
        super().__init__()
        self.gate, self.experts = nn.Linear(D, 5), nn.ModuleList(nn.Linear(D, D) for _ in range(5))

    def forward(self, x):
        answers = torch.stack([expert(x) for expert in self.experts], 2)
        return torch.einsum("bne,bned->bnd", (self.gate(x) / 2).softmax(-1), answers)


class DynamicConvolution(nn.Module):
    """As in ConvBERT: each position has a kernel of its own."""

    def __init__(self):
        super().__init__()
        self.kernel = nn.Linear(D, 3)

    def forward(self, x):
        around = F.pad(x, (0, 0, 1, 1)).unfold(1, 3, 1)  # (batch, n, D, 3)
        kernels = self.kernel(x).reshape(-1, 3, 1).softmax(1)
        return (around.reshape(-1, D, 3) @ kernels).view_as(x)


class SoftClasses(nn.Module):
    """The likely words, looked up softly in a table."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(9, D)

    def forward(self, x):
        return (x @ self.table.weight.T).softmax(-1) @ self.table.weight


@pytest.mark.parametrize("grad", [torch.enable_grad, torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("kind", [Experts, DynamicConvolution, SoftClasses])
def test_choices_among_what_was_learned_are_told_apart(kind, grad):
    with grad(), capture() as recording:
        nn.Sequential(kind())(torch.randn(B, N, D))
    assert len(recording) == 0
    assert "0: left out, a softmax over options that were learned" in recording.note


def test_learned_queries_and_scores_by_a_layer_are_attention():
    queries, score, x = nn.Parameter(torch.randn(5, D)), nn.Linear(D, 1), torch.randn(B, N, D)
    with capture() as recording:
        (queries @ x.mT).softmax(-1) @ x
        score(x.tanh()).softmax(1).mT @ x
    assert len(recording) == 2
    assert_close(recording[0].weights(1), (queries @ x.mT).softmax(-1)[1].detach())


def test_convbert_shows_its_attention_alone():
    model = build(hf.ConvBertModel, hf.ConvBertConfig(**SIZES, embedding_size=32, head_ratio=2, conv_kernel_size=3))
    with capture() as recording, torch.no_grad():
        model(**PLAIN)
    assert len(recording) == 2
    assert {(trace.n_queries, trace.n_keys) for trace in recording} == {(11, 11)}
    assert "left out" in recording.note


def test_nothing_but_what_is_recorded_stays_in_memory():
    model = build(hf.GPT2Model, hf.GPT2Config(**{**GPT, "n_layer": 6}), "eager")
    held = []
    for block in model.h:
        block.mlp.c_fc.register_forward_hook(lambda *given: held.append(given[1][0].untyped_storage()._weak_ref()))
    with capture() as recording, torch.no_grad():
        model(**PLAIN)
        alive = [not torch.UntypedStorage._expired(one) for one in held]
    assert len(recording) == 6
    assert not any(alive[:-1])
