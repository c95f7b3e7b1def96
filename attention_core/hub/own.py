"""The project's own transformers among the models that anybody may look into; models.own loads them."""

from attention_core.data.language_pieces import NAME
from attention_core.hub.model import ModelKind

OWN = {NAME: (ModelKind.DECODER, "llama"), "digit-vit": (ModelKind.VISION, "vit")}
"""Kind and architecture of each, by its name."""
