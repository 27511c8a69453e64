"""What metrics are given: judgments in any form, and scores of whatever scores documents."""
