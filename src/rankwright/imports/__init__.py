"""Models of other tools, read as forests of ours: one file a format, one line each in `table.py`."""
