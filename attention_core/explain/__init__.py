"""From traces to statements: what heads do, alignments, how far to believe a map."""
