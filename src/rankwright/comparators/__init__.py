"""The engine of SortNet: a net that compares two documents, sorting with it, and training on pairs it got wrong."""
