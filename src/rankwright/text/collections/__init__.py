"""Collections of documents, queries and judgments, read from files of many formats."""
