"""Scrapy's SCHEDULER (`adaptive`), and the requests that it makes of the leases of a crawl (`request_flow`)."""
