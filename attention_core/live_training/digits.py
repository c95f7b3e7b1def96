"""Read a digit of 14 x 14 pixels from what the four quarters of the picture take from all pixels on average."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.attention.types import Axis
from attention_core.attention.wording import percent
from attention_core.data.lessons import SIDE, small_digits
from attention_core.device import choose_device, device_of, to_array
from attention_core.live_training import lesson
from attention_core.live_training.lesson import LessonOptions, LiveSettings, Look
from attention_core.models.pixel_notes import NotesConfig, PixelControl, PixelNotes
from attention_core.train.loop import TrainingProgress

BATCH_SIZE = 32
PIXELS = Axis.picture("pixels", SIDE, SIDE)
LOOKS = ("ink", "position", "query", "key")
"""Names that the parameters begin with on which the weights depend."""


class DigitLesson(lesson.Lesson):
    """A layer of plain self-attention over pixels; its contexts are averaged over the quarters of the picture.

    So a quarter cannot pass on where its ink lies: attention has to bring it. Controls: every weight equal, and every
    pixel taking from itself alone.
    """

    n_steps, seconds = 1200, 45

    def __init__(self, settings: LiveSettings) -> None:
        super().__init__(settings, OPTIONS.rate[settings.rate])
        device = choose_device()
        self._learned, self._held_out = (
            (torch.from_numpy(split.images).to(device), torch.from_numpy(split.labels).to(device).long())
            for split in small_digits()
        )
        n, order = self.part(len(self._learned[1]))
        self._learned = self._learned[0][:n], self._learned[1][order]

    def models(self) -> dict[str, nn.Module]:
        broken, sizes = self.settings.broken, OPTIONS.size
        d_k = {lesson.SCALE: 64, lesson.BEFOREHAND: sizes["medium"]}.get(broken, sizes[self.settings.size])
        plain = NotesConfig(side=SIDE, pool=SIDE // 2, d_k=d_k, d_v=min(d_k, 16), hidden=64, dropout=0.0)
        config = replace(plain, has_positions=broken != lesson.POSITION, is_scaled=broken != lesson.SCALE)
        controls = {lesson.UNIFORM: "uniform", lesson.WITHOUT: "identity"}
        networks = {name: PixelControl(replace(config, attention=kind)) for name, kind in controls.items()}
        return {lesson.ATTENTION: PixelNotes(config), **networks}

    def loss(self, model: nn.Module, progress: TrainingProgress, generator: torch.Generator) -> Tensor:
        images, labels = self._learned
        chosen = torch.randint(len(labels), (BATCH_SIZE,), generator=generator, device=generator.device)
        return F.cross_entropy(model(images[chosen].float() / 255).logits, labels[chosen])

    def accuracy(self, model: nn.Module) -> float:
        images, labels = self._held_out
        return float((model(images.float() / 255).logits.argmax(-1) == labels).float().mean())

    def look(self, model: Any, canvas: np.ndarray) -> Look:
        """Return where the pixels of a drawing, float (14, 14), look, and what is read."""
        image = torch.from_numpy(canvas.astype(np.float32)).to(device_of(model))[None]
        query, key, _ = model.project(image)
        weights = (query[0, 0] @ key[0, 0].T * model.factor).softmax(-1)
        share, digit = model(image).logits[0].softmax(-1).max(0)
        return Look(to_array(weights), PIXELS, PIXELS, f"Reads {int(digit)} ({percent(float(share))})")


OPTIONS = LessonOptions(
    DigitLesson,
    size={"small": 8, "medium": 16, "large": 32},  # d_k
    rate={"low": 0.005, "usual": 0.02, "high": 0.05},
    broken=("", lesson.LABELS, lesson.POSITION, lesson.SCALE, lesson.BEFOREHAND),
)
