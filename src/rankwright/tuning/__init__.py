"""The search for settings: spaces, strategies, studies, and cross-validation, plain and nested."""
