"""One crawl, without Scrapy: its session, sites, robots.txt, traps, budgets and rewards.

Begin with `running_crawl`: the scheduler asks it for leases, and a pipeline has pages recorded, both in `leasing`; the
frontier below decides what is next. `spec` is what a mission specifies, `run` the mission at work.
"""
