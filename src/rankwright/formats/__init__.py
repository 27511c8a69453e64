"""Files in and out: one module or folder per format, and one pipeline that reads them all."""
