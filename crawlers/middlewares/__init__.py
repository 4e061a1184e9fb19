"""Scrapy middlewares: which answers are read how far, and when a callback is done."""
