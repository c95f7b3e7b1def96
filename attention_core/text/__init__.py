"""What the pages about words compute: sentences read, translated and judged, alignments, forgetting, heads.

translation.py and sentences.py are the ways in: a typed sentence, a model, an answer, its trace.
"""
