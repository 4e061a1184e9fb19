"""Pure functions and small classes: no Scrapy, no database, no clock, no settings.

Time is passed as *now* in seconds, randomness as a seed or a `random.Random`. Everything here can be called in a Python
shell with literals. Begin with `bandits.site_rules` (which site comes next) and `ranking.page_orders` (which page).
"""
