"""One call that chooses: families and settings are searched, the best are blended, and what that is worth is told."""
