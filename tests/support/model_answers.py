"""What every model with attention answers with edits, and a trace of it."""

import torch

from attention_core.data.next_words import read_line
from attention_core.data.pieces import START
from attention_core.data.questions import question_words, word_ids_of
from attention_core.inference.sentiment import read_sentence
from attention_core.inference.translation import explain_layers, read_source, translation_of
from attention_core.models.next_word import CONFIGS
from attention_core.models.scene_question import SCORINGS as QUESTION_SCORINGS
from tests.support import shown_code as shown
from tests.support.shown_code import QUESTION, SAID, SENTENCE, SOURCE, drawing

PIECES = torch.arange(1, 12)
PLACES = [("encoder", 1), ("decoder", 0), ("cross", 2)]


def sentiment_logits(model, edits):
    return model(read_sentence(SENTENCE).pieces[None], edits=edits).logits


def translation_logits(model, edits):
    return model(read_source(SOURCE).ids[None], torch.tensor([[START, *SAID[:-1]]]), edits=edits).logits


def transformer_logits(place):
    def logits_of(model, edits):
        fed = torch.tensor([[START, *SAID[:-1]]])
        return model(read_source(SOURCE).ids[None], fed, edits={place: edits}).logits

    return logits_of


def question_logits(scoring):
    picture, words = drawing(64, 64).expand(1, 4, -1, -1), torch.tensor([word_ids_of(question_words(QUESTION))])
    return lambda model, edits: model(picture, words, scoring, edits=edits).logits


def picture_logits(*size, looks=None):
    def logits_of(model, edits):
        more = () if looks is None else (looks,)
        return model(drawing(*size)[None], *more, edits=edits).logits

    return logits_of


def caption_logits(model, edits):
    return model(drawing(64, 64).expand(1, 4, -1, -1), torch.tensor([[0, 0, 0, 5]]), edits=edits).logits


def question_trace(scoring):
    words = question_words(QUESTION)
    return lambda model: model.explain(drawing(64, 64).expand(4, -1, -1), words, scoring).looks[0]


def layer_trace(place):
    return lambda model: explain_layers(model, read_source(SOURCE), translation_of(SAID))[place]


def triple_logits(model, edits):
    return model(torch.tensor([[1, 5, 25, 7]]), edits=edits).logits


def language_logits(model, edits):
    return model(PIECES[None], edits=edits).logits


def next_word_logits(model, edits):
    return model(torch.tensor([read_line("Tom helped Mary.").ids]), edits=edits).logits


def first_trace(name):
    """Return what gives the first of the traces whose lines of code are run."""
    return lambda model: next(iter(shown.TRACES[name](name, model, ())))


LOGITS = {
    **dict.fromkeys(("pixel-classifier", "pixel-notes", "pixel-notes-ink"), picture_logits(28, 28)),
    **dict.fromkeys(("feature-mask", "feature-mean"), picture_logits(60, 60)),
    "digit-reader": picture_logits(48, 192, looks=2),
    **dict.fromkeys(("scene-caption", "scene-caption-together"), caption_logits),
    **{f"match3-{head}": triple_logits for head in ("pairwise", "simplicial", "one-layer", "two-layers")},
    **{f"next-word-{variant}": next_word_logits for variant in CONFIGS if variant != "over-queries"},
    **dict.fromkeys(("sentence-attention", "sentence-mean", "sentence-two-phase"), sentiment_logits),
    **{
        f"translator-{kind}": translation_logits
        for kind in ("none", "mean", "dot", "additive", "plain", "input-feeding")
    },
    "language-recurrent": language_logits,
}
CASES = {
    **{name: (name, logits_of, first_trace(name)) for name, logits_of in LOGITS.items()},
    "pixel-notes-product": ("pixel-notes-product", picture_logits(28, 28), lambda model: model.trace(drawing(28, 28))),
    **{f"scene-question {by}": ("scene-question", question_logits(by), question_trace(by)) for by in QUESTION_SCORINGS},
    **{
        f"transformer {' '.join(map(str, at))}": ("translator-transformer", transformer_logits(at), layer_trace(at))
        for at in PLACES
    },
}
BY_THE_LIBRARY = {"digit-vit", "tatoeba-llama"}
"""Models whose attention the transformers library asks for."""
LIBRARY = {
    "digit-vit": lambda model: (model.vit, {"pixel_values": 1 - 2 * drawing(28, 28)[None, None]}),
    "tatoeba-llama": lambda model: (model, {"input_ids": PIECES[None]}),
}
