"""Is this map an explanation? Words become the unknown one, in the order of their shares and in others."""

import torch

from attention_core.device import device_of
from attention_core.faithfulness import subjects
from attention_core.faithfulness.attribution import Subject
from attention_core.inference.translation import read_source, translate
from attention_core.inference.word_influence import last_state_shares
from attention_core.models.translator import Translator
from pages.memory import first_screen as screen
from ui.faithfulness import QuestionedMap, question_map
from ui.faithfulness import answer as answer
from ui.faithfulness import draw as draw
from ui.hosting.bounds import QUESTIONED_PIECES


def draw_input() -> QuestionedMap:
    """Draw the sentence; return what becomes of the translation as words go."""
    text = screen.draw_sentence()
    n_pieces, most = len(read_source(text).ids), QUESTIONED_PIECES.maximum // 2
    if n_pieces > most:
        return QuestionedMap.missing(f"This is too long to erase word after word: {n_pieces} pieces, at most {most}.")
    return question_map(screen.NAME, screen.WITHOUT, "words", _vector_subject, text)


def _vector_subject(model: Translator, text: str) -> Subject:
    """Return the subject that tests the shares of words in the one vector: words are replaced by the unknown one."""
    source = read_source(text)
    ids = torch.tensor(translate(model, source).ids, device=device_of(model))
    shares, pieces = last_state_shares(model, source), source.ids.to(ids.device)
    return subjects.single_vector_subject(model, pieces, ids, source.word_of, source.words, shares)
