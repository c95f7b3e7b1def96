"""Does a map explain its answer? Orders of importance, curves of deletion, other weights in the place of these."""
