"""A study of a model on the GPU: every question is answered there, and results can be read anywhere."""

import pytest
import torch

from attention_core.study import Study
from tests.support.study_models import inputs_of, metric_of, model_of


@pytest.mark.parametrize("name", ["llama", "bert", "vit"])
def test_every_question_is_answered_on_the_gpu(name):
    model, (clean, corrupt), metric = model_of(name).to("cuda"), inputs_of(name), metric_of(name)
    study = Study(model)
    for site in ("head_out", "position", "pattern", "mlp", "residual"):
        put = study.patch(clean, corrupt, metric=metric, at=site)
        assert put.values.device.type == "cpu"
        assert len(put.columns()["value"]) == put.values.numel()
    for how in ("zero", "mean", "resample"):
        assert study.ablate(clean, metric=metric, method=how, reference=[corrupt]).values.shape == (2, 4)
    study.ablate(clean, metric=metric, at="edge", query=3)
    found = study.attribute(clean, metric=metric)
    assert abs(found.residue) < 1e-4
    study.lens(clean, position=0).columns()
    table = study.why(clean, layer=1, head=2, query=6, key=5)
    assert abs(table.open("key", "0.1").residue) < 1e-4
    assert study.heads([clean, corrupt]).columns()
    assert study.show(clean, colour=put if put.site == "head_out" else found).data["open"]
    assert torch.isfinite(found.heads).all()
