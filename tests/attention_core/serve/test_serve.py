"""Models by a deployment: what travels, what is repeated, what happens while nobody answers."""

import os
import pickle
import time
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from attention_core import load as load_here
from attention_core.attention.steps import steps_of
from attention_core.models import MODELS
from attention_core.serve import AwayError, Cluster, calls, client, load
from attention_core.serve.client import LostError, local_model, ray_token
from attention_core.serve.wire import function_of, pack, unpack
from tests.support.fake_cluster import TOKEN, FakeCluster, fake_cluster

N_PIXELS = 784


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCluster]:
    monkeypatch.setenv("RAY_AUTH_TOKEN", TOKEN)
    with fake_cluster() as server:
        yield server


def test_a_trace_is_the_same_there_and_here_and_travels_as_what_it_keeps(there: FakeCluster) -> None:
    image = torch.rand(28, 28, generator=torch.Generator().manual_seed(0))
    got, wanted = load("pixel-classifier", there.address).trace(image), load_here("pixel-classifier").trace(image)
    for step, other in zip(steps_of(got), steps_of(wanted), strict=True):
        assert torch.equal(step.value(), other.value()), step.name
        assert step.names().keys() == other.names().keys()
    model = load("pixel-classifier", there.address)
    for side in (14, 28):
        trace = model(torch.rand(1, side, side), trace=True).traces[0]
    small, large = there.sent[-2:]
    kept = sum(part.nbytes for part in (trace.query, trace.key, trace.value, trace.log_normaliser))
    assert large < 4.2 * small  # as the number of pixels grows, and not as its square
    assert kept < large < 1_100_000 < trace.n_queries * trace.n_keys * 4 / 2


def test_numbers_that_repeat_and_views_travel_once() -> None:
    mask = torch.ones(1, 1, 500, dtype=torch.bool).expand(4, 500, 500)
    tile = torch.arange(1e6).reshape(1000, 1000)[3:5, ::2]
    packed = pack((mask, tile, tile))
    assert len(packed) < 500 + 1000 * 4 + 1000
    again, first, second = unpack(packed, local_model)
    assert torch.equal(again, mask)
    assert torch.equal(first, tile)
    assert first is second


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64, torch.int64, torch.bool])
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_every_kind_of_tensor_travels(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    tensor = torch.ones(shape).to(dtype)
    (got, kind) = unpack(pack((tensor, dtype)), local_model)
    assert got.dtype == kind == dtype
    assert torch.equal(got, tensor)


def test_nothing_but_known_functions_of_known_classes_is_run() -> None:
    model = local_model("pixel-classifier")
    parts = [model, *model.children(), *model.parameters()]
    packed = pack(parts)
    assert len(packed) < 100 * len(parts)
    assert all(one is other for one, other in zip(unpack(packed, local_model), parts, strict=True))
    with pytest.raises(pickle.UnpicklingError, match="not of this project"):
        unpack(pickle.dumps(os.system), local_model)
    with pytest.raises(pickle.UnpicklingError, match="not of this project"):
        unpack(b"cattention_core.command.start\nsys\n.", local_model)


def test_every_model_can_be_named() -> None:
    for name in MODELS:
        assert unpack(pack(local_model(name)), local_model) is local_model(name)


@pytest.mark.parametrize("name", ["os:system", "attention_core.files:os.system", "subprocess:run", "ui.computed:os"])
def test_no_other_functions_are_run(name: str) -> None:
    with pytest.raises((pickle.UnpicklingError, AttributeError)):
        function_of(name)


@pytest.mark.parametrize("fault", ["lose", "fail"])
def test_a_lost_call_is_repeated_twice_at_most(there: FakeCluster, fault: str) -> None:
    model, image = load("pixel-classifier", there.address), torch.rand(28, 28)
    setattr(there, fault, 2)
    assert model.trace(image).n_queries == N_PIXELS
    assert there.n_calls == 3
    setattr(there, fault, 3)
    with pytest.raises(LostError, match="3 times"):
        model.trace(image)
    assert there.n_calls == 6


def test_what_the_caller_did_wrong_is_raised_here(there: FakeCluster) -> None:
    with pytest.raises(ValueError, match="28"):
        load("pixel-classifier", there.address).trace(torch.rand(3, 3))
    assert there.n_calls == 1


def test_what_fails_there_is_no_answer(there: FakeCluster, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(LostError):
        load("pixel-classifier", there.address).no_such_method()
    assert "A call failed" in caplog.text


def test_nobody_answers() -> None:
    with fake_cluster() as server:
        address = server.address
    began, cluster = time.monotonic(), Cluster(address, TOKEN)
    with pytest.raises(AwayError):
        cluster.call(calls.of_model, "pixel-classifier", "trace", torch.rand(28, 28))
    assert cluster.is_away
    with pytest.raises(AwayError, match="a moment ago"):
        cluster.call(calls.of_model, "pixel-classifier", "trace", torch.rand(28, 28))
    assert time.monotonic() - began < 2


def test_one_that_stops_answering_is_given_up_within_two_seconds(there: FakeCluster) -> None:
    cluster = Cluster(there.address)
    assert cluster.device() == "a fake device"
    there.stuck, began = True, time.monotonic()
    with pytest.raises(AwayError):
        cluster.call(calls.of_model, "pixel-classifier", "trace", torch.rand(28, 28))
    assert time.monotonic() - began < 2


def test_one_that_comes_back_is_asked_again(there: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "RETRY_AFTER_SECONDS", 0.0)
    cluster = Cluster(there.address)
    there.stuck = True
    with pytest.raises(AwayError):
        cluster.probe()
    there.stuck = False
    assert cluster.device() == "a fake device"
    assert not cluster.is_away


def test_a_wrong_token_is_told(there: FakeCluster) -> None:
    with pytest.raises(AwayError, match="token"):
        Cluster(there.address, "another").probe()


def test_the_token_is_where_ray_looks_for_it(tmp_path) -> None:
    file = tmp_path / "token"
    file.write_text("of a file\n")
    assert ray_token({"RAY_AUTH_TOKEN_PATH": str(file)}) == "of a file"
    assert ray_token({"RAY_AUTH_TOKEN_PATH": str(file), "RAY_AUTH_TOKEN": "given"}) == "given"
    assert ray_token({"RAY_AUTH_TOKEN_PATH": str(tmp_path / "none")}) == ""


def test_predictions_share_a_run_each_gets_its_own_and_a_bad_batch_spoils_no_other() -> None:
    pictures: list[Tensor] = [torch.rand(n, 28, 28, generator=torch.Generator().manual_seed(n)) for n in (1, 2, 3)]
    batches = [("pixel-classifier", pictures[0]), ("ffn-classifier", pictures[1]), ("pixel-classifier", pictures[2])]
    for (name, picture), answer in zip(batches, calls.predict(batches), strict=True):
        torch.testing.assert_close(answer.logits, local_model(name)(picture).logits, rtol=1e-5, atol=1e-5)
    good, bad = ("pixel-classifier", torch.rand(1, 28, 28)), ("pixel-classifier", torch.rand(1, 2, 2))
    answers = calls.predict([bad, good])
    assert isinstance(answers[0], Exception)
    assert answers[1].logits.shape == (1, 10)


def test_functions_run_without_gradients() -> None:
    part = torch.ones(1, 28, 28, requires_grad=True)
    assert not calls.run((client.OF_MODEL, ("ffn-classifier", "__call__", part), {})).logits.requires_grad


def test_only_predictions_alone_share_a_run() -> None:
    batch = torch.rand(2, 28, 28)
    asked = client.OF_MODEL, ("pixel-classifier", "__call__", batch)
    assert calls.batch_of((*asked, {})) == ("pixel-classifier", batch)
    assert calls.batch_of((*asked, {"trace": True})) is None
    assert calls.batch_of((client.OF_MODEL, ("pixel-classifier", "trace", batch[0]), {})) is None
    assert (
        calls.batch_of(("attention_core.inference.scenes:owners", ("pixel-classifier", "__call__", batch), {})) is None
    )
