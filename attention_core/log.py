"""The logger of the core: what is caught and survived is written to it once, with its traceback."""

import logging

log = logging.getLogger("attention_core")
