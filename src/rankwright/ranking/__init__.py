"""The order of documents: ties, gains, discounts and ideal gains."""
