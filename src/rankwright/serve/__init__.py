"""Rankers behind HTTP: models that are loaded, bodies that are decoded, protocols, the live loop."""
