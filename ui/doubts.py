"""Whether a page's map explains its answer: what each page erases, and where its map lies."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention_core.data.questions import numbers_of
from attention_core.device import device_of, to_array
from attention_core.faithfulness import subjects
from attention_core.faithfulness.attribution import Subject
from attention_core.models.scene_question import SceneAnswer
from attention_core.topics.matter.sentences import read_sentence
from attention_core.topics.memory.influence import last_state_shares
from attention_core.topics.read import ReadDrawing
from attention_core.topics.translate.translation import ShownTranslation, read_source, translate
from ui.ask import first_screen as ask
from ui.computed import model_or_stop
from ui.faithfulness import KeysInPicture, faithfulness_tab
from ui.find import first_screen as find
from ui.groups import sections as groups
from ui.matter import judgement as matter
from ui.memory import first_screen as memory
from ui.pixels import first_screen as pixels
from ui.read import first_screen as read
from ui.skeleton import Tab


def _subject(make: Callable[..., Subject], name: str, values: np.ndarray | Tensor, *more: Any) -> Subject:
    """Return the subject of a model and of numbers, put where it computes."""
    model = model_or_stop(name)
    return make(model, torch.as_tensor(values, dtype=torch.float32, device=device_of(model)), *more)


def pixel_doubts(reading: pixels.Reading) -> Tab:
    """Return the section on a drawn digit: its ink is erased."""
    name, image = pixels.LAYER.value, reading.drawing.image
    over = KeysInPicture(pixels.light_ink(image), image.shape, smooth=False, high=pixels.STRONGEST)
    subject = partial(_subject, subjects.pixel_subject, name, image)
    return faithfulness_tab(pixels.NAME, name, image.tobytes(), subject, "ink pixels", over)


def find_doubts(reading: find.FindReading) -> Tab:
    """Return the section on a digit in clutter: regions of the feature map are erased."""
    subject = partial(_subject, subjects.mask_subject, find.MODEL, reading.picture)
    over = KeysInPicture(reading.canvas, reading.masks.shape[1:])
    return faithfulness_tab(find.NAME, find.MODEL, reading.picture.tobytes(), subject, "regions", over)


def read_doubts(drawing: ReadDrawing) -> Tab:
    """Return the section on a number that was read: blocks of regions are erased."""
    subject = partial(_subject, subjects.reading_subject, read.MODEL, drawing.picture)
    over = KeysInPicture(drawing.canvas, drawing.reading.trace.story.key_axis.grid, size=380)
    return faithfulness_tab(read.NAME, read.MODEL, drawing.picture.tobytes(), subject, "blocks of nine regions", over)


def ask_doubts(drawing: ask.AskedDrawing, words: Sequence[str], answered: SceneAnswer) -> Tab:
    """Return the section on a question about a drawing: regions of the feature map are erased."""
    subject = partial(_subject, subjects.question_subject, ask.MODEL, drawing.picture, numbers_of(words))
    over = KeysInPicture(drawing.canvas, answered.looks[0].story.key_axis.grid)
    key = to_array(drawing.picture).tobytes(), *words
    return faithfulness_tab(ask.NAME, ask.MODEL, key, subject, "regions", over)


AS_LEARNED = "This is about the network as learned, without your changes."


def matter_doubts(text: str, is_changed: bool) -> Tab:
    """Return the section on a judged sentence: words are left out."""

    def subject() -> Subject:
        return subjects.sentence_subject(model_or_stop(matter.ATTENTION), read_sentence(text).words)  # type: ignore[arg-type]

    answer = AS_LEARNED * is_changed
    return faithfulness_tab(matter.NAME, matter.ATTENTION, text, subject, "words", answer=answer)


def party_doubts(numbers: Sequence[int], asks: int) -> Tab:
    """Return the section on whose lock opens: other guests are hidden."""
    head, names = groups.HEAD.value, groups.NAMES[: len(numbers)]

    def subject() -> Subject:
        return subjects.party_subject(model_or_stop(groups.HEADS[head]), numbers, asks, names)  # type: ignore[arg-type]

    return faithfulness_tab(groups.NAME, groups.HEADS[head], (tuple(numbers), asks), subject, "guests")


def memory_doubts(text: str) -> Tab:
    """Return the section on what one vector knows of each word: words become the unknown one."""

    def subject() -> Subject:
        model, source = model_or_stop(memory.WITHOUT), read_source(text)
        ids = torch.tensor(translate(model, source).ids, device=device_of(model))  # type: ignore[arg-type]
        shares, pieces = last_state_shares(model, source), source.ids.to(ids.device)  # type: ignore[arg-type]
        return subjects.one_vector_subject(model, pieces, ids, source.word_of, source.words, shares)  # type: ignore[arg-type]

    return faithfulness_tab(memory.NAME, memory.WITHOUT, text, subject, "words")


def translation_doubts(page: str, text: str, shown: ShownTranslation, is_changed: bool = False) -> Tab:
    """Return the section on a translation: English words become the unknown one."""
    name, ids = f"translator-{shown.translator}", tuple(shown.translation.ids)

    def subject() -> Subject:
        model, source = model_or_stop(name), read_source(text)
        device = device_of(model)
        pieces, target = source.ids.to(device), torch.tensor(ids, device=device)
        return subjects.translation_subject(model, pieces, target, source.word_of, source.words)  # type: ignore[arg-type]

    given = "The answer is French that is given, in whole or in part." if shown.forced else ""
    answer = " ".join(filter(None, (given, AS_LEARNED * is_changed)))
    return faithfulness_tab(page, name, (text, ids), subject, "words", answer=answer)
