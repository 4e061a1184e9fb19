"""One crawl, without Scrapy: its session, its policies, robots.txt, budgets and rewards.

Begin with `running_crawl`: the scheduler asks it for leases, and a pipeline returns the pages; the frontier below
decides what is next. `policy` is the interface of the missions, whose policies are in `news` and `topic`.
"""
