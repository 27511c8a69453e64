"""How commands speak: results, progress, help."""
