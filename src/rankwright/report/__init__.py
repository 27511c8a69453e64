"""Pictures and tables of forces, of training, of searches, of compression and of examination."""
