"""The parts of the page “Start”, and what it shows at once, made beforehand of what the models really say."""
