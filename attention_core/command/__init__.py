"""The command attention-explorer: it starts the app, or records what a model attends to in a text."""
