"""Where the bytes of files are, and how they are compressed."""
