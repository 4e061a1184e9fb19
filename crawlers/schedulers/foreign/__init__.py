"""Requests of plain Scrapy spiders: kept as text in the frontier, requests again when their turn comes."""
