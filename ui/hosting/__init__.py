"""What a public server needs: bounds, uploads, what its answers pass, a warm start."""
