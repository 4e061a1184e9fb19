"""Scrapy extensions: the owner of the crawl (`crawl_owner`), stopping, progress, alarms, further files, GC tuning."""
