"""Pictures and tables of forces, of training, of searches and of compression."""
