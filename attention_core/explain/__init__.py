"""What a trace says: what heads do, alignments, how far to believe a map."""
