"""The spiders, one per mission, and their common base. Nothing else, because Scrapy imports every module here."""
