"""The implementation of the commands in `crawlers.commands`: option checks, exit status, actions and tables.

Scrapy treats every module of COMMANDS_MODULE as a command, so everything else belongs here.
"""
