"""Detects endless parts of sites, which trap crawlers: calendars, session ids, loops of relative links.

`url_shapes` judges a single URL by its shape. Begin with `trap_watch`, which judges groups of URLs by the content of
their pages.
"""
