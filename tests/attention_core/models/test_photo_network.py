"""The network of photographs: its features are those of the package whose numbers it has, and how they came here."""

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from attention_core.models import build, load
from attention_core.models.photo_network import Convolution
from attention_core.train.photo import EPSILON, Conversion, folded
from attention_core.weights import read_card
from tests.support.own_models import run_training

NAME = "photo-classifier"
BY_THE_PACKAGE = {
    0: [1.95657, 1.16586, 0.0, 3.02208, 2.31288, 0.82365],
    77: [0.72186, 2.20575, 0.82083, 0.82555, 2.30876, 0.98379],
    132: [2.39305, 3.1923, 0.97304, 1.76578, 3.13179, 0.7716],
    164: [1.67157, 2.60107, 1.95389, 1.49082, 2.63332, 2.10999],
    208: [4.146, 4.71793, 3.41787, 5.20701, 5.61928, 4.58994],
    235: [1.4499, 1.02193, 1.28092, 1.34001, 0.0, 0.96674],
}
"""Some channels, over 2 x 3 regions, as efficientnet-lite-pytorch 0.1.0 has them with the same numbers."""


def pattern():
    y, x = torch.meshgrid(torch.arange(64), torch.arange(96), indexing="ij")
    return torch.stack([y * x % 256, (3 * x + y) % 256, y * y // 16 % 256])[None] / 255


@torch.inference_mode()
def test_features_are_those_of_the_package():
    model = load(NAME, "cpu")
    features = model.features(pattern())
    assert features.shape == (1, 1280, 2, 3)
    expected = torch.tensor([*BY_THE_PACKAGE.values()])
    assert_close(features[0, [*BY_THE_PACKAGE]].flatten(1), expected, atol=1e-4, rtol=0)
    logits = model(pattern()).logits[0]
    assert_close(logits, model.classify(features.mean((2, 3)))[0], atol=1e-4, rtol=0)
    assert_close(logits.topk(3).values, torch.tensor([19.9359, 19.0932, 16.6434]), atol=1e-3, rtol=0)


@pytest.mark.parametrize("shape", [(3, 64, 64), (1, 1, 64, 64), (1, 3, 64, 65)])
def test_what_is_no_photograph_of_whole_regions_is_refused(shape):
    with pytest.raises(ValueError, match="32 m"):
        build(NAME).features(torch.zeros(shape))


def package_state(model):
    """The parameters of a network as the package names them, in its order, with batch normalisation apart."""
    state, generator = {}, torch.Generator().manual_seed(3)
    for number, layer in enumerate(one for one in model.modules() if isinstance(one, Convolution)):
        n = layer.out_channels
        state[f"{number}.conv.weight"] = torch.randn(layer.weight.shape, generator=generator)
        for name in ("weight", "bias", "running_mean", "running_var"):
            state[f"{number}.bn.{name}"] = torch.rand(n, generator=generator) + 0.5
        state[f"{number}.bn.num_batches_tracked"] = torch.tensor(1)
    return state | {"_fc.weight": model.classify.weight.detach(), "_fc.bias": model.classify.bias.detach()}


def test_batch_normalisation_is_folded_into_the_convolutions():
    state = package_state(build(NAME))
    tensors = folded(state)
    assert len(tensors) == 100
    assert_close(tensors[-1], state["_fc.bias"])
    picture, norm = (
        torch.rand(1, 3, 8, 8),
        [state[f"0.bn.{name}"] for name in ("running_mean", "running_var", "weight", "bias")],
    )
    expected = F.batch_norm(F.conv2d(picture, state["0.conv.weight"]), *norm, eps=EPSILON)
    assert_close(F.conv2d(picture, *tensors[:2]), expected, atol=1e-4, rtol=1e-4)


def test_the_command_converts_a_file_and_refuses_others(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(Conversion, "figures", lambda self, model: {"published_accuracy": 0.751})
    state = package_state(build(NAME))
    torch.save(state, tmp_path / "a.pth")
    code, error, folder = run_training(tmp_path, capsys, NAME, tmp_path / "a.pth", 0)
    assert code == 0, error
    card, model = read_card(NAME, folder), load(NAME, "cpu", folder)
    assert (card["batches"], card["published_accuracy"]) == (0, 0.751)
    assert "final_training_loss" not in card
    assert_close(model.layers[0].weight, folded(state)[0].half().float())
    (tmp_path / "b.pth").write_bytes(b"no file of torch")
    torch.save({"_fc.weight": torch.ones(1)}, tmp_path / "c.pth")
    for name in ("b.pth", "c.pth", "none.pth"):
        code, error, _ = run_training(tmp_path, capsys, NAME, tmp_path / name, 0)
        assert (code, name in error) == (1, True)
