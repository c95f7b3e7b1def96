"""Softmaxes that are written out, signed weights, and what is no attention."""

import pytest
import torch
import transformers as hf
from torch import nn
from torch.testing import assert_close

from attention_core import capture, load_recording
from tests.support.tiny_models import GPT, PLAIN, SIZES, build
from tests.support.written_softmax import BY_HAND, CAUSAL, B, D, DynamicConvolution, Experts, H, N, SoftClasses, vectors


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


class Pool(nn.Module):
    def __init__(self, n_heads=1):
        super().__init__()
        self.encoder, self.score = nn.TransformerEncoderLayer(D, 1, batch_first=True), nn.Linear(D, n_heads)

    def forward(self, x):
        states = self.encoder(x)
        self.weights = self.score(states).softmax(1)
        return (states * self.weights).sum(1)


class Highest(Pool):
    def forward(self, x):
        return (x * self.score(x).softmax(1)).amax(1)


@pytest.mark.parametrize("grad", [torch.enable_grad, torch.inference_mode])
def test_values_that_are_weighed_and_added_up_are_attention_of_one_query(grad):
    pool, x = Pool().eval(), torch.randn(B, N, D)
    with grad(), capture() as recording:
        pooled = pool(x)
    assert not recording.note
    assert_close(recording[1].weights(), pool.weights[:1, :, 0])
    assert_close(recording[1].context(), pooled[:1])


def by_heads(x, w):  # several weights for each position, (batch, n, heads)
    return (w.unsqueeze(-1) * x.unsqueeze(2)).sum(1)


def over_a_picture(x, w):  # (batch, channels, rows, columns)
    picture, weights = x.mT.reshape(B, D, 2, -1), w[..., :1].mT.reshape(B, 1, 2, -1)
    return (weights * picture).sum((2, 3))


POOLS = {
    "by expand_as": lambda x, w: torch.sum(x * w[..., :1].expand_as(x), 1, keepdim=True),
    "by mean": lambda x, w: (w[..., :1] * x).mean(1),
    "by einsum": lambda x, w: torch.einsum("bn,bnd->bd", w[..., 0], x),
    "features first": lambda x, w: (x.mT * w[..., 0].unsqueeze(1)).sum(-1),
    "positions first": lambda x, w: (x.transpose(0, 1).contiguous() * w[..., :1].transpose(0, 1)).sum(0),
    "by heads": by_heads,
    "over a picture": over_a_picture,
}


@pytest.mark.parametrize("name", POOLS)
def test_pooling_is_seen_as_it_is_spelt(name):
    class Net(Pool):
        def forward(self, x):
            self.weights = self.score(x.tanh()).softmax(1)
            return POOLS[name](x, self.weights)

    net, x = Net(H if name == "by heads" else 1).eval(), torch.randn(B, N, D)
    with capture(item=1) as recording:
        out = net(x)
    (trace,), weights = recording, net.weights
    assert_close(trace.weights(), weights[1].mT.detach())
    factor = 1 / N if name == "by mean" else 1
    assert_close(trace.context() * factor, out[1].detach().reshape(trace.context().shape))
    assert not recording.note


@pytest.mark.parametrize(
    ("axis", "note"),
    [
        (2, "Its softmax runs over the queries: each key shares itself out among them"),
        (1, f"Its softmax runs over axis 1 of ({B}, {H}, {N}, {N}), not over the keys, axis 3"),
    ],
)
def test_a_softmax_over_another_axis_is_seen_and_told(axis, note):
    q, k, v = vectors()
    with capture() as recording:
        ((q @ k.mT).softmax(axis) @ v).transpose(1, 2).flatten(2)
    weights = (q @ k.mT).softmax(axis)[0]
    for head in range(H):
        assert_close(recording[0].weights(head), weights[head])
        assert_close(recording[0].context(head), weights[head] @ v[0, head])
    assert note in recording[0].story.note


def test_a_softmax_whose_weights_are_not_followed_is_told():
    with capture() as recording:
        Highest().eval()(torch.randn(B, N, D))
    assert len(recording) == 0
    assert "Not seen: Highest, whose softmax met no values" in recording.note


def test_weights_that_meet_values_in_another_s_are_not_called_unseen():
    q, k, v = vectors()
    with capture() as recording:
        ((q @ k.mT).softmax(-1) - 0.8 * (k @ q.mT).softmax(-1)) @ v
    assert not recording.note


def test_rows_that_see_no_key_and_scores_that_float32_rounds_are_told():
    q, k, v = vectors()
    with capture() as recording:
        (q @ k.mT).masked_fill(torch.arange(N)[:, None] == 1, -torch.inf).softmax(-1) @ v
        (1e3 * q @ (1e3 * k).mT).softmax(-1) @ v
    empty, large = (trace.story.note for trace in recording)
    assert empty.count("Some queries may attend to no key") == 1
    assert "float32" not in empty
    assert "float32 rounds" in large


class Seq2Seq(nn.Module):
    """The weights come from the decoder's state alone, as in PyTorch's first tutorial of translation."""

    def __init__(self):
        super().__init__()
        self.align = nn.Linear(D, N)

    def forward(self, state, encoded):
        self.weights = self.align(state).softmax(1)
        return torch.bmm(self.weights.unsqueeze(1), encoded)


def test_weights_made_of_a_state_alone_that_meet_another_s_values_are_attention():
    decoder, encoded = Seq2Seq(), torch.randn(B, N, D)
    with capture() as recording:
        context = decoder(torch.randn(B, D), encoded)
    assert_close(recording[0].weights(), decoder.weights[:1])
    assert_close(recording[0].context(), context[0])
    assert "no plain product" in recording[0].story.note


def test_products_of_one_softmax_over_more_keys_say_what_their_rows_sum_to():
    q, k, v = vectors()
    with capture() as recording:
        old, new = torch.cat([q @ k.mT, q @ k[:, :, :2].mT], -1).softmax(-1).split([N, 2], -1)
        old @ v + new @ v[:, :, :2]
    for trace, weights in zip(recording, (old, new), strict=True):
        low, high = weights[0].sum(-1).aminmax()
        assert (
            f"One softmax runs over these keys and others: these rows sum to {low:.2f} to {high:.2f}."
            in trace.story.note
        )
        assert "no plain product" not in trace.story.note


class Hidden(Highest):
    """Its weights meet no values in any product."""

    def forward(self, x):
        self.weights = self.score(x).softmax(1)
        return (x * self.weights).amax(1), self.weights[..., 0]


@pytest.mark.parametrize("shape", [(B, N), (B, 1, N), (B, 1, 1, N)])
def test_weights_that_cannot_be_seen_are_read_where_the_user_says(shape):
    net, x = nn.Sequential(nn.Identity(), Hidden().eval()), torch.randn(B, N, D)
    with capture(item=1, also={"1": lambda module, output: output[1].view(shape)}) as recording:
        net(x)
    (trace,) = recording
    assert (recording.names, recording.note) == (["1"], "")
    assert_close(trace.weights(), net[1].weights[1].mT.detach())
    assert "Item 1 of 2" in trace.story.note
    assert "As capture(also=...) read them" in trace.story.note


def test_what_a_reader_finds_elsewhere_or_in_another_shape_is_told():
    with capture(also={"pool": lambda *_: None, "1": lambda module, output: output[0, 0]}) as recording:
        nn.Sequential(nn.Identity(), nn.Identity())(torch.randn(B, N, D))
    assert len(recording) == 0
    assert "Not read: pool, no module of such a path ran." in recording.note
    assert "1: not kept, ValueError: weights must be (batch, n_heads, n_queries, n_keys), got (4,)" in recording.note
