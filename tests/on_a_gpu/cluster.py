"""A trace of a GPU crosses the wire, to a machine with one and to a machine without."""

import pytest
import torch

from attention_core.attention.steps import steps_of
from attention_core.device import choose_device
from attention_core.serve import calls, wire
from attention_core.serve.client import local_model


@pytest.mark.parametrize("device", [choose_device(), "cpu"])
def test_a_trace_arrives_on_the_best_device_there(device: str, monkeypatch) -> None:
    assert choose_device() != "cpu"
    trace = calls.of_model("pixel-classifier", "trace", torch.rand(28, 28))
    packed = wire.pack(trace)
    monkeypatch.setattr(wire, "choose_device", lambda: device)
    got = wire.unpack(packed, local_model)
    assert got.query.device.type == device
    assert torch.equal(got.query.cpu(), trace.query.cpu())
    for step, other in zip(steps_of(got)[2:], steps_of(trace)[2:], strict=True):
        torch.testing.assert_close(step.value().cpu(), other.value().cpu(), rtol=1e-4, atol=1e-5)


def test_predictions_share_a_run_on_the_gpu() -> None:
    batches = [("ffn-classifier", torch.rand(n, 28, 28)) for n in (1, 3)]
    assert [len(one.logits) for one in calls.predict(batches)] == [1, 3]
