"""The parts of the page “What a recurrent network forgets”."""
