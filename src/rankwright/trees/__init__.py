"""Trees: binning of features, the histogram tree grower, forests and their scorer."""
