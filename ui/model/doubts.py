"""Whether a map of one's own model explains its answer."""

import numpy as np

from attention_core.charts import overlay
from attention_core.charts.vega import Chart
from attention_core.faithfulness.attribution import Subject
from attention_core.faithfulness.model_subject import model_subject
from attention_core.hub.model import ModelKind
from attention_core.hub.run import ModelRun
from ui.faithfulness import faithfulness_tab
from ui.model.glance import NAME
from ui.model_runs import LatestRun, prepared_of, pretrained_of
from ui.skeleton import Tab

SIZE = 190  # screen pixels of a picture with a map over it

ANSWERS = {
    ModelKind.ENCODER: "The answer is the sentence's vector, the mean of its tokens'; what is left of it, the cosine.",
    ModelKind.DECODER: "The answer is the next token.",
    ModelKind.VISION: "The answer is the class.",
}


def model_doubts(run: ModelRun, asked: LatestRun) -> Tab:
    """Return the section on a model's run: its tokens become the unknown one, or its patches plain."""

    def draw(received: np.ndarray) -> Chart:
        return overlay(run.picture, received[run.n_prefix :].reshape(run.patch_grid), size=SIZE, bar=False)

    pretrained, prepared = pretrained_of(asked.key), prepared_of(*asked)

    def subject() -> Subject:
        return model_subject(pretrained, prepared)

    is_picture = run.patch_grid is not None
    part, draws = ("patches", draw) if is_picture else ("tokens", None)
    return faithfulness_tab(NAME, asked.key, asked, subject, part, draws, ANSWERS.get(pretrained.kind, ""))
