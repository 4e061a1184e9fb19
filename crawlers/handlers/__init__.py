"""Scrapy's download handlers (DOWNLOAD_HANDLERS): HTTP with limits for hostile servers (`bounded_http`)."""
