"""Digits read as 7 x 7 patches by a small vision transformer, after two convolutions.

Built by the transformers library, so that it goes the way that every model from outside goes.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_core.attention.trace import AttentionTrace, Prediction
from attention_core.attention.types import Axis
from attention_core.device import device_of
from attention_core.hub.tracing import run_model
from attention_core.models.encoder_stack import EditsByLayer
from attention_core.models.registry import register

NAME = "digit-vit"
GRID = (7, 7)
"""Rows and columns of patches; the class token stands before them."""
N_LAYERS = 4

N_FEATURES = 16  # channels of the convolutions


class ConvolvedPatches(nn.Conv2d):
    """A vector per patch of 4 x 4 pixels, from features of two convolutions: it sees two pixels beyond its edges."""

    def __init__(self, width: int) -> None:
        super().__init__(N_FEATURES, width, kernel_size=4, stride=4)
        self.features = nn.Sequential(
            nn.Conv2d(1, N_FEATURES, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(N_FEATURES, N_FEATURES, 3, padding=1),
            nn.ReLU(),
        )

    def forward(self, pixels: Tensor) -> Tensor:
        return super().forward(self.features(pixels))


class DigitVit(nn.Module):
    """Four layers of six heads, d_k 16, over a class token and 49 patches of 4 x 4 pixels; 96 numbers for each.

    Source: Dosovitskiy et al. 2020, "An image is worth 16 x 16 words", section 3.1; the convolutions, Xiao et al. 2021,
    "Early convolutions help transformers see better".
    """

    def __init__(self) -> None:
        super().__init__()
        from transformers import ViTConfig, ViTForImageClassification

        config = ViTConfig(
            image_size=28,
            patch_size=4,
            num_channels=1,
            hidden_size=96,
            intermediate_size=192,
            num_hidden_layers=N_LAYERS,
            num_attention_heads=6,
            num_labels=10,  # type: ignore[call-arg]
        )
        self.vit = ViTForImageClassification(config)
        self.vit.vit.embeddings.patch_embeddings.projection = ConvolvedPatches(config.hidden_size)

    def forward(self, images: Tensor, *, edits: EditsByLayer = (), trace: bool = False) -> Prediction:
        """Classify pictures (batch, 28, 28) in [0, 1], 1 = ink; edits are those of every layer, or given by layer."""
        pixels = 1 - 2 * images[:, None]
        if not edits and not trace:
            return Prediction(self.vit(pixel_values=pixels).logits)
        by_layer = edits if isinstance(edits, Mapping) else dict.fromkeys(range(N_LAYERS), edits)
        recording, output = run_model(self.vit, {"pixel_values": pixels}, edits=by_layer)
        patches = Axis("patches", ["class", *Axis.picture("patches", *GRID).labels])
        traces = (trace.with_story(query_axis=patches, key_axis=patches) for trace in recording.traces)
        return Prediction(output.logits, tuple(traces))

    @torch.inference_mode()
    def traces(self, image: Tensor, edits: EditsByLayer = ()) -> tuple[AttentionTrace, ...]:
        """Return one trace per layer of a picture (28, 28): what class token and patches collect from each other."""
        picture = torch.as_tensor(image, dtype=torch.float32, device=device_of(self))
        return self(picture[None], edits=edits, trace=True).traces


register(NAME, "classification:evaluate_digits", DigitVit)
