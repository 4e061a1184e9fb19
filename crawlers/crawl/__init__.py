"""One crawl, without Scrapy: its session, its policies, robots.txt, budgets and rewards.

The schedulers hand pages in and requests out; the frontier below decides what is next. Begin with `session`.
"""
