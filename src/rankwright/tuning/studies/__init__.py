"""A study: its trials run by an engine, the folder that keeps them, and what that folder tells."""
