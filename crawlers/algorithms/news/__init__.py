"""Algorithms of a news crawl: classification of pages and URLs as articles, polling of feeds, alarms.

Begin with `url_classifier` (is a URL an article?) and `poll_plan` (when is a feed polled again?).
"""
