"""Scrapy extensions: stopping, progress, alarms, files written beside the store, GC tuning, log lines."""
