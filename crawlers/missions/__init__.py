"""The missions, a package each, with all that one adds to the core. None imports another."""
