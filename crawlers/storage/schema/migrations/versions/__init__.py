"""One script a version of the tables."""
