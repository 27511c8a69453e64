"""Files in and out: one room a format, one pipeline that reads them all."""
