"""Requests of plain Scrapy spiders: they wait in the frontier as text, and are recreated when leased."""
