"""The spiders, one a mission, and what they share (`base`). Nothing else: Scrapy imports every module here."""
