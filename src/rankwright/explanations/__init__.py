"""Why documents rank as they do: what features add to scores, what would swap two documents, what a feature does."""
