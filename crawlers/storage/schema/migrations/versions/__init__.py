"""One script per version of the tables."""
