"""A lecture: its screens and keys, guided items, and a hall whose phones guess."""
