"""The old place of attention_core.inference.translation, for one version."""

import warnings

from attention_core.inference.translation import explain, read_source, translate

__all__ = ["explain", "read_source", "translate"]

warnings.warn(
    "attention_core.topics.translate.translation is attention_core.inference.translation now",
    DeprecationWarning,
    stacklevel=2,
)
