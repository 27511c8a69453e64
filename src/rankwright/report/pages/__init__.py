"""The pages: which sections a report on what consists of."""
