"""The commands, one a module, and nothing else: for any command, Scrapy imports all of them.

So each imports what it needs when it runs. Those of Scrapy that are not crawls (`WithoutCrawl`) are replaced by
versions that leave the store alone.
"""
