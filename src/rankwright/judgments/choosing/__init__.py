"""What to judge next: documents whose judgments tell two rankers apart, or improve the data to train on."""
