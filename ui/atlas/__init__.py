"""Parts of the page "The atlas"."""
