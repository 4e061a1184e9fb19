"""Scrapy middlewares: redirects, content types, and the callbacks of plain Scrapy spiders."""
