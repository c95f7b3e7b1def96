"""Models and recordings as several pages choose, load and run them."""
