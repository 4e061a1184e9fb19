"""Endless parts of sites: recognised by the shape of URLs and by pages that say the same."""
