"""What single pages compute, named after them: a module or a package for each."""
