"""Parts of the page "Your own model"."""
