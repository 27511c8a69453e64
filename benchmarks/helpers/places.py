"""Where benchmarks find data and leave what they found."""

from __future__ import annotations

import os
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
RESULTS = CHECKOUT / "benchmarks" / "results"
# Real data sets: in the folder that RANKWRIGHT_DATA names, or beside the checkout.
DATA = Path(os.environ.get("RANKWRIGHT_DATA", CHECKOUT.parent / "shared" / "data"))
