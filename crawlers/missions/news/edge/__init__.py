"""What news adds to the edge: components of Scrapy, actions of `scrapy sites`, pages of the panel."""
