"""The tables of news crawls, and the statements about them. Begin with `news_tables`."""
