"""The spiders, one per mission, and their common base. Nothing else, because Scrapy imports every module here.

For any command Scrapy does so; a mission imports what it needs when it runs.
"""
