"""Making trained models smaller, and measuring the loss."""
