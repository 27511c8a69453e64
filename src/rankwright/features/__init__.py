"""What is done to features before a model sees them: scaling, kernel maps, missing values."""
