"""SVMlight and LETOR text."""
