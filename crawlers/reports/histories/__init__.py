"""The history of a URL: what the store knows of it, as values that `scrapy explain` prints and the panel shows.

Begin with `history.py`, the values, and `url_history.py`, which finds out what a URL is to a crawl.
Each sentence is written once, as a template with typed parts, so that a rendering
decides how URLs, times and numbers look, and in which language.
"""
