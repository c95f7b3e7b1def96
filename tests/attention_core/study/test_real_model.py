"""A study of a real language model, of the folder that ATTENTION_REAL_MODEL names; see CONTRIBUTING.md."""

import os
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from attention_core.hub.load import load_pretrained
from attention_core.hub.tracing import run_model
from attention_core.study import Study
from attention_core.study.families import family_of, submodule
from attention_core.study.sites import layers_of
from tests.support.study_models import hooked

FOLDER = os.environ.get("ATTENTION_REAL_MODEL", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="ATTENTION_REAL_MODEL names no folder")
CLEAN, CORRUPT = "Mary has a red car. Mary has a red", "Mary has a red hat. Mary has a red"


def gap(out):
    return out.logit(" car") - out.logit(" hat")


@pytest.fixture(scope="module")
def study():
    pretrained = load_pretrained(Path(FOLDER))
    return Study(pretrained.model, pretrained.tokenizer)


def test_parts_add_up_and_a_patched_head_is_as_by_hooks(study):
    added = study.attribute(CLEAN, metric=gap)
    assert abs(added.residue) < 1e-3
    estimate = study.patch(CLEAN, CORRUPT, metric=gap, measure=False)
    head = divmod(int(estimate.change.abs().argmax()), estimate.values.shape[1])
    put = study.patch(CLEAN, CORRUPT, metric=gap, heads=[head])
    outputs = [submodule(layer, family_of(study.model).output) for layer in layers_of(study.model)]
    given, d = [], outputs[0].weight.shape[1] // put.values.shape[1]
    columns = slice(head[1] * d, (head[1] + 1) * d)
    with torch.no_grad():
        with hooked(outputs[head[0]], before=lambda states: given.append(states) or states):
            study.model(**study.inputs(CLEAN))
        with hooked(
            outputs[head[0]],
            before=lambda s: torch.cat([s[..., : columns.start], given[0][..., columns], s[..., columns.stop :]], -1),
        ):
            logits = study.model(**study.inputs(CORRUPT)).logits[0, -1]
    words = [study.tokenizer(word, add_special_tokens=False)["input_ids"][0] for word in (" car", " hat")]
    assert put.values[head] == pytest.approx(float(logits[words[0]] - logits[words[1]]), abs=1e-3)
    largest = float(study.why(CLEAN, layer=head[0], head=head[1], query=-1, key=1).cells.abs().max())
    assert abs(study.why(CLEAN, layer=head[0], head=head[1], query=-1, key=1).residue) < 1e-4 * largest


def test_what_is_written_is_seen_as_in_one_run_and_heads_have_names(study):
    written = study.generate(CLEAN, 5)
    whole = run_model(study.model, {"input_ids": torch.tensor([written.ids[:-1]])})[0]
    for joined, expected in zip(written.joined().traces, whole.traces, strict=True):
        assert_close(joined.weights(0), expected.weights(0), atol=1e-4, rtol=0)
    assert {"induction", "previous token"} <= {*study.names().columns()["name"]}
