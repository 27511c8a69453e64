"""The page: what it is made of, and how it becomes one file of HTML."""
