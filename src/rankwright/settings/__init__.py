"""Settings, written once: type, default, range, a sentence, and where a search looks."""
