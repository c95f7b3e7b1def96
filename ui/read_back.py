"""What a translation says, in large letters: in English, what is wrong or lost marked; else what it alone says."""

import html
from collections.abc import Collection, Sequence
from itertools import groupby
from operator import itemgetter

from attention_core.data.sentence_presets import FAITHFUL, READ_BACK
from attention_core.inference.read_back import CORRECT, LOST, compare_words

IN_ENGLISH = READ_BACK | FAITHFUL


def read_back(french: str, sentence: str, words: Sequence[str] = (), unique_words: Collection[int] = ()) -> str:
    """Return HTML of what a translation of a sentence says; of unknown French, the French, some of its words marked."""
    marked = []
    if french not in IN_ENGLISH:
        for index, word in enumerate(words):
            if not word or word not in french:
                continue
            before, marked_word, french = french.partition(word)
            marked_word = html.escape(marked_word)
            marked += [html.escape(before), f"<mark>{marked_word}</mark>" if index in unique_words else marked_word]
        return f'<p class="read-back" lang="fr">{"".join(marked)}{html.escape(french)}</p>'
    for kind, group in groupby(compare_words(IN_ENGLISH[french], sentence), itemgetter(1)):
        words = html.escape(" ".join(word for word, _ in group))
        words = f"<s>{words}</s>" if kind == LOST else words
        marked.append(words if kind == CORRECT else f"<mark>{words}</mark>")
    return f'<p class="read-back">{" ".join(marked)}</p>'
