"""What twins of several topics share: random numbers from counters, and elementary functions."""
