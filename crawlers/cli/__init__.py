"""What the commands of `crawlers.commands` are made of: option checks, exit status, actions and tables.

Scrapy takes every class in COMMANDS_MODULE for a command, so everything else of them stands here.
"""
