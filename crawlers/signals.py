"""Signals of ours, beside Scrapy's."""

from __future__ import annotations

# Sent when everything learnt is committed and the crawl is not yet recorded as ended. A handler that
# raises keeps it from being finished: the same command goes on with what failed. No arguments.
crawl_stored = object()
