"""A small web to crawl, served on loopback, and the program behind `make demo`."""
