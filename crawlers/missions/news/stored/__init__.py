"""The tables of news crawls, and what reads and writes most of them. Begin with `news_tables`."""
