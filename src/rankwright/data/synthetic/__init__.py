"""Data made by a recipe and a seed: the same seed gives the same data."""

from rankwright.data.synthetic.quickstart import quickstart
from rankwright.data.synthetic.ranknet import random_network, random_polynomial
from rankwright.data.synthetic.topic_distillation import topic_distillation
from rankwright.data.synthetic.web_search import web_search

__all__ = ["quickstart", "random_network", "random_polynomial", "topic_distillation", "web_search"]
