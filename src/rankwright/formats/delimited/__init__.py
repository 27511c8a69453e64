"""CSV and TSV text."""
