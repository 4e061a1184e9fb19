"""The control panel: crawls, sites, links, reports and pictures in a browser. `scrapy web` serves it.

It reads the store, starts crawls as processes of their own and asks their workers to pause or stop, and never runs one
itself: it imports no Scrapy. Begin with `serving.py`, then `pages/crawl_pages.py`. `guard.py` decides which requests
are let through; `panel.py` has how pages are made. All lists of a crawl are reports: see
`crawlers.reports.catalogue`.
"""
