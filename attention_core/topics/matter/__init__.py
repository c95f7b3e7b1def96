"""Which words matter: sentences read, judged and explained, and the space of their words."""
