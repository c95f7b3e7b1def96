"""Is grammar caught? What the gender of a French article hangs on, tried by barring English words from attention."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from attention_core.attention.edits import BlockEdge
from attention_core.data.pieces import SPACE, load_vocabulary
from attention_core.files import find_file, read_figures
from attention_core.inference.translation import SourceSentence, Translation, WordView, piece_probabilities
from attention_core.models.transformer import EditedTranslator
from attention_core.models.translator import Translator

COMMITTED = find_file("benchmarks/results/grammar.json")
GENDERS = ("le", "la"), ("un", "une"), ("mon", "ma"), ("ton", "ta"), ("son", "sa"), ("ce", "cette")
OPPOSITE = {form: pair[1 - index] for pair in GENDERS for index, form in enumerate(pair)}
"""Each masculine form -> the feminine one, and back."""
DETERMINERS = frozenset(["the", "a", "an", "my", "your", "his", "her", "its", "this", "that"])
FORE = frozenset(
    form
    for pair in (
        "petit petite", "grand grande", "bon bonne", "beau belle", "nouveau nouvelle", "vieux vieille", "gros grosse",
        "joli jolie", "mauvais mauvaise", "premier première", "dernier dernière", "jeune même autre",
    )
    for form in pair.split()
)  # fmt: skip
"""French adjectives that stand before their noun."""


class GenderedWord(NamedTuple):
    """A French article, or the like, whose gender is that of a noun after it."""

    row: int  # its place in the translation
    form: str  # "la"
    opposite: str  # the same in the other gender: "le"
    noun: int  # the English word at which its noun looks most
    heaviest: int  # the English word at which it looks most itself, the noun not counted


class GenderProbability(NamedTuple):
    """How likely a translator finds its form of the two, with English words barred from the article's attention."""

    learned: float
    without_noun: float
    without_heaviest: float
    isolated: float  # with nothing barred, but each English piece read by itself, as if there were no others


def gendered_words(view: WordView) -> Iterator[GenderedWord]:
    """Yield the determiners of a translation whose noun attends to an English noun that has a determiner, too."""
    french, english = ([word.lower() for word in words] for words in (view.target, view.source))
    for row, form in enumerate(french[:-2]):
        of = row + 1 + (french[row + 1] in FORE)
        if form not in OPPOSITE or of >= len(french) - 1 or not french[of].isalpha():
            continue
        noun, weights = int(view.weights[of, :-1].argmax()), view.weights[row, :-1].clone()
        if not DETERMINERS.isdisjoint(english[max(0, noun - 2) : noun]) and english[noun] not in DETERMINERS:
            weights[noun] = -1
            yield GenderedWord(row, form, OPPOSITE[form], noun, int(weights.argmax()))


def gender_probability(
    model: Translator, source: SourceSentence, translation: Translation, view: WordView, word: GenderedWord
) -> GenderProbability:
    """Ask a recurrent translator with attention for both forms, as learned and changed; see GenderProbability."""
    query, forms = view.first_piece[word.row], (word.form, word.opposite)

    def ask(barred: Sequence[int] = (), *, isolated: bool = False) -> float:
        edits = tuple(BlockEdge(query, key) for key, of in enumerate(source.word_of) if of in barred)
        changed = EditedTranslator(model, edits, reads_single_pieces=isolated)
        candidates = ([*translation.ids[:query], *load_vocabulary().cut([SPACE + form]).ids] for form in forms)
        probability, opposite_probability = (piece_probabilities(changed, source, ids)[query] for ids in candidates)
        return probability / max(probability + opposite_probability, 1e-12)

    return GenderProbability(ask(), ask([word.noun]), ask([word.heaviest]), ask(isolated=True))


def committed_grammar(translator: str) -> dict[str, Any]:
    """Return the committed figures of a translator, see benchmarks/README.md; {} where there are none."""
    return read_figures(COMMITTED).get("by_score", {}).get(translator, {})
