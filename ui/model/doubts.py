"""Whether a map of one's own model explains its answer."""

from attention_core.faithfulness.attribution import Subject
from attention_core.faithfulness.model_subject import model_subject
from attention_core.hub.model import ModelKind
from attention_core.hub.run import ModelRun
from ui.faithfulness import KeysInPicture, faithfulness_tab
from ui.model.glance import NAME
from ui.model_runs import LatestRun, prepared_of, pretrained_of
from ui.skeleton import Tab

MANY_PARAMETERS = 40_000_000  # from so many on a person asks for figures that take hundreds of passes

ANSWERS = {
    ModelKind.ENCODER: "The answer is the sentence's vector, the mean of its tokens'; what is left of it, the cosine.",
    ModelKind.DECODER: "The answer is the next token. Early tokens are seen by more queries, so they receive more.",
    ModelKind.VISION: "The answer is the class.",
}
MAP = "The map is the mean of all layers, heads and queries, not of the chosen head."


def model_doubts(run: ModelRun, asked: LatestRun) -> Tab:
    """Return the section on a model's run: its tokens become the unknown one, or its patches plain."""
    pretrained, part, over = pretrained_of(asked.key), "tokens", None
    if run.patch_grid is not None:
        part, over = "patches", KeysInPicture(run.picture, run.patch_grid, run.n_prefix)

    def subject() -> Subject:
        return model_subject(pretrained, prepared_of(*asked))

    is_large = sum(one.numel() for one in pretrained.model.parameters()) > MANY_PARAMETERS
    answer = f"{ANSWERS.get(pretrained.kind, '')} {MAP}"
    return faithfulness_tab(NAME, asked.key, asked, subject, part, over, answer, is_large)
