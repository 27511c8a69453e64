"""Models of other tools, read as forests of ours: one file a tool or format, one line each in `format_table.py`."""
