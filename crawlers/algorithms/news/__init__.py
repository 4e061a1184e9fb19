"""Algorithms of a news crawl: classification of pages and URLs as articles, polling of feeds, alarms.

Begin with `url_classifier` (is this URL an article?) and `poll_plan` (when is each feed polled again?).
"""
