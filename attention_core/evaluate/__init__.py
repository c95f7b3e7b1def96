"""Evaluation: any model on anyone's data. `python -m attention_core.evaluate MODEL FILE --json`."""
