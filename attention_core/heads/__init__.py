"""What the heads of a recording do, in numbers: where they look, how alike they are, what they hand over."""
