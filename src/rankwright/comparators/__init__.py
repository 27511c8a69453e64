"""The engine of SortNet: a net that compares two documents, sorting by it, and training it on what it got wrong."""
