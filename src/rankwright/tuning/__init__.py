"""The search for settings: spaces and grids, strategies, the store of a study, cross-validation, nested and plain."""
