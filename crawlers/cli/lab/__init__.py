"""The parts of `scrapy lab`: simulate, replay, report, topic, news."""
