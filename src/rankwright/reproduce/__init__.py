"""The papers' tables and figures computed again, each beside the paper's own numbers: one experiment a file."""
