"""Files of judgments: one reader a format, and the gathering that makes a table of what they read."""
