"""What a trace says: the arithmetic of a cell, what heads do, alignments, how far to believe a map."""
