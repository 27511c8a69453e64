"""An index of documents on the disk: built in blocks, opened by mapping its files into memory."""
