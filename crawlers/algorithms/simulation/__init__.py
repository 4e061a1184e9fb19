"""Simulated crawls without requests: site rules on synthetic or stored webs, strategies on the web of a topic crawl.

Used by `scrapy lab`. Begin with `rule_simulation` and `experiment` for site rules, with `topic_replay` for strategies.
"""
