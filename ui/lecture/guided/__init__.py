"""Guided lectures: their items through the pages, the lecturer's notes, the hall's handout."""
