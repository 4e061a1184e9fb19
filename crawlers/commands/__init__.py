"""The commands, one a module, and nothing else.

A command imports its own module (see `crawlers.settings`); for a list of them, and for those of Scrapy, Scrapy imports
all, so each imports what it needs when it runs. Those of Scrapy that are not crawls (`WithoutCrawl`) are replaced by
versions that leave the store alone.
"""
