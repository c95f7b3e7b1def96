"""The page's surprise: few heads look where the chosen one does."""

from collections import Counter

from attention_core.data.sentence_presets import LAYERED
from pages.transformer import reading as page
from pages.transformer.inputs import FIRST_LOOKS, QUERY
from ui.translators import translation
from ui.try_this import TRY_STAGE, TryThis
from ui.words import text_field

SENTENCE = next(iter(LAYERED.values()))
HEAD, _ = FIRST_LOOKS[SENTENCE]
PRONOUN, NOUN = "il", "enfant"  # he, the child
N_HEADS = page.CONFIG.n_layers * page.CONFIG.n_heads  # of the decoder
OPTIONS = {"all of them": N_HEADS, "6 to 17": 6, "2 to 5": 2, "this one alone": 1}
"""Option -> of how many heads at least it speaks."""


def count_heads_alike(text: str) -> TryThis:
    """Return the page's surprise: how many heads of the decoder look most at the child before *il*."""

    def row() -> int:
        return translation(page.TRANSLATOR, SENTENCE).labels.index(PRONOUN)

    def act() -> None:
        text_field(page.NAME).value, page.CHOSEN.value, QUERY.value = SENTENCE, HEAD, row()
        page.EDITS.reset()

    def outcome() -> tuple[int, str]:
        traces, query = page.traces(page.Reading(SENTENCE, {})), row()
        labels = traces[HEAD[:2]].story.key_axis.labels
        strongest = Counter(
            labels[int(trace.weights(head, [query])[0].argmax())]
            for (attention, _), trace in traces.items()
            if attention == HEAD.kind
            for head in range(trace.n_heads)
        )
        n_alike = strongest.pop(NOUN)
        counts = ", ".join(f"*{label}* ({n})" for label, n in strongest.most_common())
        right = next(index for index, minimum in enumerate(OPTIONS.values()) if n_alike >= minimum)
        return right, f"*{NOUN}*: {n_alike} of {N_HEADS}. The others look most at {counts}."

    if text != SENTENCE:
        TRY_STAGE[page.NAME].reset()  # the verdict on a guess was about another sentence
    return TryThis(
        "do all heads look there?",
        f"Before *{PRONOUN}*, he, this head looks most at *{NOUN}*, the child. How many of the {N_HEADS} do?",
        tuple(OPTIONS),
        act,
        outcome,
        f"{page.NAME}_place",
        hides=".st-key-numbers",
    )
