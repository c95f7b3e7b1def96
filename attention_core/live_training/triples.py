"""Say of each number whether two others add up with it to a multiple of 31: a task that single others cannot answer."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.attention.edits import UNIFORM, Edits, Temperature
from attention_core.attention.types import Axis
from attention_core.bounds.harmless import IN_SENTENCES, as_markdown
from attention_core.data import match3
from attention_core.device import choose_device, device_of, to_array
from attention_core.live_training import lesson
from attention_core.live_training.lesson import LessonOptions, LiveSettings, Look
from attention_core.models.match3 import Match3Config, Match3Head, Prediction
from attention_core.train.loop import TrainingProgress

BATCH_SIZE, N_HELD_OUT, HELD_OUT_SEED = 64, 500, 2023
SINGLE = "attention to one at a time"


class EditedHead(Match3Head):
    """A head whose attention is edited from the first batch on."""

    def __init__(self, config: Match3Config, edits: Edits) -> None:
        super().__init__(config)
        self.edits = edits

    def forward(self, numbers: Tensor, *, edits: Edits = (), trace: bool = False) -> Prediction:
        return super().forward(numbers, edits=(*self.edits, *edits), trace=trace)


class TripleLesson(lesson.Lesson):
    """A head that scores pairs of other numbers; controls: every pair alike, and a head that scores single others."""

    n_steps, seconds = 500, 25

    def __init__(self, settings: LiveSettings) -> None:
        super().__init__(settings, OPTIONS.rate[settings.rate])
        self._held_out = tuple(
            tensor.to(choose_device()) for tensor in match3.fresh_sequences(N_HELD_OUT, HELD_OUT_SEED)
        )

    def models(self) -> dict[str, nn.Module]:
        is_broken, size = self.settings.broken == lesson.SCALE, OPTIONS.size[self.settings.size]
        pairs, single = (Match3Config(pairs=pairs, d_k=64 if is_broken else size) for pairs in (True, False))
        edits = (Temperature(64**-0.5),) if is_broken else ()  # which multiplies by what scores are divided by
        heads = {lesson.ATTENTION: (pairs, edits), lesson.UNIFORM: (pairs, UNIFORM), SINGLE: (single, edits)}
        return {name: EditedHead(*arguments) for name, arguments in heads.items()}

    def loss(self, model: nn.Module, progress: TrainingProgress, generator: torch.Generator) -> Tensor:
        numbers = match3.draw_sequences(BATCH_SIZE, generator)
        labels = match3.labels_of(numbers).flatten().long()
        if self.settings.broken == lesson.LABELS:
            labels = labels[torch.randperm(len(labels), generator=generator, device=generator.device)]
        return F.cross_entropy(model(numbers).logits.flatten(0, 1), labels)

    def accuracy(self, model: nn.Module) -> float:
        numbers, labels = self._held_out
        return float((model(numbers).logits.argmax(-1) == labels).float().mean())

    def remark(self, text: str) -> str:
        numbers, remark = match3.read_numbers(text)
        remark = as_markdown(remark, IN_SENTENCES)
        cut_remark = f" The first {match3.N_NUMBERS} are read here." if len(numbers) > match3.N_NUMBERS else ""
        return f"{remark}{cut_remark}" if numbers else f"{remark} The numbers of the example are shown."

    def look(self, model: Any, text: str) -> Look:
        """Return what each number takes from the others, half of a pair's weight to each of the two, and the answer."""
        numbers = (match3.read_numbers(text).numbers or [*match3.FIRST_NUMBERS])[: match3.N_NUMBERS]
        prediction = model(torch.tensor([numbers], device=device_of(model)), trace=True)
        pairs = prediction.traces[0].weights(0).unflatten(-1, (len(numbers) + 1, -1))
        labels = [*map(str, numbers)]
        says = (prediction.logits[0].argmax(-1) == 1).tolist()
        matched = [label for label, is_matched in zip(labels, says, strict=True) if is_matched]
        right = match3.labels_of(torch.tensor([numbers]))[0].tolist()
        utterance = f"Says: in a triple {'is' if len(matched) == 1 else 'are'} {', '.join(matched)}"
        utterance = utterance if matched else "Says: no number is in a triple"
        return Look(
            to_array(pairs.sum(-1) + pairs.sum(-2)) / 2,
            Axis("numbers", labels),
            Axis("numbers", [*labels, "nobody"]),
            utterance,
            tuple("yes" if is_matched else "no" for is_matched in says),
            tuple(said == is_matched for said, is_matched in zip(says, right, strict=True)),
        )


OPTIONS = LessonOptions(
    TripleLesson,
    size={"small": 32, "medium": 64, "large": 96},  # d_k
    rate={"low": 0.003, "usual": 0.01, "high": 0.03},
    broken=("", lesson.LABELS, lesson.SCALE),
    share=(100,),  # numbers are drawn anew for every batch
)
