"""Scrapy's SCHEDULER: hands out what the frontier leases, takes back what came of it. Begin with `adaptive`."""
