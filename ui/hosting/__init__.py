"""What a public server needs: bounds, uploads, middleware, a warm start."""
