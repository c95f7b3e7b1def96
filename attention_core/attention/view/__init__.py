"""The one view of attention: in the app, in a notebook's cell and in a file. What it draws with is plain JavaScript."""
