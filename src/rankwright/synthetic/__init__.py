"""Data made by a recipe and a seed: the same seed gives the same data."""

from rankwright.synthetic.artificial_tasks import random_network, random_polynomial
from rankwright.synthetic.handbook import Handbook, handbook
from rankwright.synthetic.topic_distillation import topic_distillation
from rankwright.synthetic.web_search import quickstart, web_search

__all__ = [
    "Handbook",
    "handbook",
    "quickstart",
    "random_network",
    "random_polynomial",
    "topic_distillation",
    "web_search",
]
