"""The thin scikit-learn interface of every ranker: settings, `fit`, `predict`, `rank`, `save`."""
