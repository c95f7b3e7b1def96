"""What trained models make of a person's input: a drawing, a sentence, a question, a text."""
