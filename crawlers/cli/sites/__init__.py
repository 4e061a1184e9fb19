"""The actions of `scrapy sites` on seeds, feeds, URL rules and alarms."""
