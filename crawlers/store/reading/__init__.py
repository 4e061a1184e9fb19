"""Queries about crawls, their sites, pages and links. Begin with `queries`."""
