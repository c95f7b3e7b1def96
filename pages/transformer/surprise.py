"""The page's surprise: whether a word comes where no head may look at the word that one of them looks at before it."""

from attention_core import SetWeights
from attention_core.attention.wording import percent
from attention_core.data.sentence_presets import LAYERED
from pages.transformer import reading as page
from pages.transformer.inputs import FIRST_LOOKS, QUERY, chosen_head
from pages.transformer.scene import answers_at, cross_out
from ui.try_this import TryThis
from ui.words import text_field

SENTENCE = next(iter(LAYERED.values()))
HEAD, ROW = FIRST_LOOKS[SENTENCE]
NE, PAS = "ne", "pas"  # together they are not
KEY = 2  # ne, after the start and je
AS_LIKELY = 0.9  # of its probability, at least
OPTIONS = ("“pas”, as likely as before", "“pas”, but less likely", "Another word")


def cross_key_out() -> TryThis:
    """Return the page's surprise: what comes in place of *pas* where no head of the decoder looks at *ne*."""

    def act() -> None:
        text_field(page.NAME).value, page.CHOSEN.value, QUERY.value = SENTENCE, HEAD, ROW
        page.EDITS.reset()
        cross_out(chosen_head(page.Reading(SENTENCE, {})), ROW, KEY)

    def outcome() -> tuple[int, str]:
        cut = {(HEAD.kind, layer): (SetWeights(ROW, ((KEY, 0.0),)),) for layer in range(page.CONFIG.n_layers)}
        (trained,), (now,) = (answers_at(page.Reading(SENTENCE, edits), [ROW]) for edits in ({}, cut))
        before, after = ({text: share for text, share, _ in answers}[PAS] for answers in (trained, now))
        word, probability, _ = now[0]
        right = 2 if word != PAS else int(after < AS_LIKELY * before)
        change = f"“{PAS}” goes from {percent(before)} to {percent(after)}"
        return right, f"Without “{NE}” comes “{word}” ({percent(probability)}); {change}."

    return TryThis(
        f"is “{NE}” needed?",
        f"After “je {NE} sais”, one head looks most at “{NE}”. What comes if no head of the decoder may look there?",
        OPTIONS,
        act,
        outcome,
        f"{page.NAME}_place",
    )
