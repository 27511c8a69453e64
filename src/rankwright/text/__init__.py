"""Documents and queries: collections read, indexed, searched, and turned into features."""
