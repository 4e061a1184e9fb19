"""Detects endless parts of sites: by the shape of URLs, and by pages with repeated content."""
