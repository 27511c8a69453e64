"""Many rankers as one, and one ranker made smaller."""
