"""The shell of a server: requests and their limits, tokens, Host and Origin, errors as JSON, logs and metrics."""
