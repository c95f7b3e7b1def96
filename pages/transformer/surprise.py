"""The page's surprise: what a head of the decoder looks at before a pronoun is said."""

from attention_core.attention.wording import percent
from pages.transformer import reading as page
from pages.transformer.inputs import QUERY
from ui.translators import translation
from ui.try_this import TRY_STAGE, TryThis
from ui.words import text_field

SENTENCE = "The child didn't eat the apple because it was too old."
HEAD = page.TransformerHead("decoder", 2, 1)
PRONOUN = "elle"  # feminine as *la pomme*, the apple
OPTIONS = "pomme (apple)", "enfant (child)", "mangé (eaten)"


def find_antecedent(text: str) -> TryThis:
    """Return the page's surprise: before *elle*, which means the apple, a head looks at the child."""

    def row() -> int:
        return translation(page.TRANSLATOR, SENTENCE).labels.index(PRONOUN)

    def act() -> None:
        text_field(page.NAME).value, page.CHOSEN.value, QUERY.value = SENTENCE, HEAD, row()
        page.EDITS.reset()

    def outcome() -> tuple[int, str]:
        trace = page.traces(page.Reading(SENTENCE, {}))[HEAD[:2]]
        weights = trace.weights(HEAD.head, [row()])[0]
        heaviest, share = trace.story.key_axis.labels[int(weights.argmax())], percent(float(weights.max()))
        option = next((index for index, text in enumerate(OPTIONS) if text.split()[0] == heaviest), len(OPTIONS))
        return option, f"It looks most at *{heaviest}* ({share}), and yet *{PRONOUN}* agrees with *pomme*."

    if text != SENTENCE:
        TRY_STAGE[page.NAME].reset()  # the verdict on a guess was about another sentence
    return TryThis(
        "what does *it* mean?",
        f"*{SENTENCE}* About to say *{PRONOUN}*, it, where does this head look most?",
        (*OPTIONS, "elsewhere"),
        act,
        outcome,
        f"{page.NAME}_place",
        hides=f":is(.st-key-{page.NAME}_choice, .st-key-numbers)",
    )
