"""Where the system grants fewer threads than were asked for, those there are do the work, with the same outcome."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import resource
from pathlib import Path

import numpy as np

from rankwright import RankingDataset, kernels
from rankwright.trees.bins.binned import bin_dataset
from rankwright.trees.grower import grow_tree
from rankwright.trees.params import TreeParams

rng = np.random.default_rng(0)
features, gradient = rng.random((20_000, 40), np.float32), rng.normal(size=20_000)
data = RankingDataset.from_arrays(features, np.zeros(20_000), group=np.full(1_000, 20))
binned, params = bin_dataset(data), TreeParams(max_leaves=8)


def outcome(threads):
    tree = grow_tree(binned, gradient, np.ones(20_000), params, threads=threads).tree
    rows = np.empty(len(gradient), np.int64)
    kernels.rank_rows(gradient, data.groups.offsets, rows, threads)
    return tree.value.tobytes(), rows.tobytes()


wanted = outcome(1)
mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
limit = mapped + (60 << 20)  # which the stacks of a few threads fill
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
assert outcome(500) == wanted
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system does not tell what is mapped")
def test_work_goes_on_with_the_threads_there_are():
    # Stacks are large, so that what they leave, which is less than one of them, is enough for the work itself.
    stacks = ["bash", "-c", 'ulimit -s 32768 && exec "$0" "$@"', sys.executable, "-c", SCRIPT]
    result = subprocess.run(stacks, capture_output=True, text=True, check=False, timeout=60)
    assert (result.returncode, result.stderr) == (0, "")
