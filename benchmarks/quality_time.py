"""The short name of `benchmarks.quality.against_time`: quality against processor time, ours and the peers'."""

from __future__ import annotations

from benchmarks.quality.against_time import main

if __name__ == "__main__":
    main()
