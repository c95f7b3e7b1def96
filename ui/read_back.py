"""What a translation says, in large letters: in English, with what is wrong marked, or in French with glosses."""

import html
from collections.abc import Collection, Sequence
from itertools import groupby
from operator import itemgetter

from attention_core.data.sentence_presets import FAITHFUL, READ_BACK
from attention_core.inference.read_back import CORRECT, LOST, compare_words

IN_ENGLISH = READ_BACK | FAITHFUL


def read_back(french: str, sentence: str, words: Sequence[str] = (), unique_words: Collection[int] = ()) -> str:
    """Return HTML of what a translation of a sentence says.

    Of French whose English is not known, it is the French with English below its words, those with an index in
    `unique_words` marked, and the sentence's words that are lost.
    """
    if french not in IN_ENGLISH:
        return _french_with_glosses(french, sentence, words, unique_words)
    marked, compared = [], compare_words(IN_ENGLISH[french], sentence)
    for kind, group in groupby((pair for pair in compared if pair[1] != LOST), itemgetter(1)):
        text = html.escape(" ".join(word for word, _ in group))
        marked.append(text if kind == CORRECT else f"<mark>{text}</mark>")
    return f'<p class="read-back">{" ".join(marked)}</p>'


def _french_with_glosses(french: str, sentence: str, words: Sequence[str], unique_words: Collection[int]) -> str:
    from attention_core.inference.glosses import english_below, english_lost  # brings torch

    marked = []
    for index, (word, english) in enumerate(zip(words, english_below(words, sentence), strict=True)):
        if not word or word not in french:
            continue
        before, word, french = french.partition(word)
        below = f'<rt lang="en">{html.escape(english)}</rt>' if english else ""
        text = f"<ruby>{html.escape(word)}{below}</ruby>" if below else html.escape(word)
        marked += [html.escape(before), f"<mark>{text}</mark>" if index in unique_words else text]
    lost = english_lost(words, sentence) if words else []
    struck = f' <s lang="en">{html.escape(", ".join(lost))}</s>' if lost else ""
    return f'<p class="read-back" lang="fr">{"".join(marked)}{html.escape(french)}{struck}</p>'
