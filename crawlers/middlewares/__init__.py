"""Scrapy middlewares: redirects, content types, rendering, callbacks of plain Scrapy spiders; and the downloader."""
