"""Reports about a crawl, found by name: each one is a table that `scrapy report` prints and the panel shows.

Begin with `report.py`, the contract, and `page_reports.py`, examples; `registry.py` names them all. A report
reads the store in bounded steps, so that a page of it is ready in a fraction of a second however large the crawl is,
and whichever filter is set.
"""
