"""What the page *Draw a digit* computes about scores and answers over pixels."""
