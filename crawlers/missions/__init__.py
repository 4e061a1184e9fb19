"""The missions, a package each, with all that one adds to the core: see `crawlers.mission`. None imports another."""
