"""Scrapy's SCHEDULER (`adaptive`), which makes requests of the leases of a crawl, of robots.txt and of sitemaps."""
