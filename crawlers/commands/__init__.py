"""The commands of this project (COMMANDS_MODULE): crawl, explain, graph, lab, sites. It contains only commands.

Those of Scrapy that are not crawls (`WithoutCrawl`) are replaced by versions that leave the store alone.
"""
