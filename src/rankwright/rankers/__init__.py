"""The scikit-learn face of every ranker, thin: settings, `fit`, `predict`, `rank`, `save`."""
