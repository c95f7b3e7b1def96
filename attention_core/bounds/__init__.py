"""What strangers send: bounds on it, and their texts, made harmless."""
