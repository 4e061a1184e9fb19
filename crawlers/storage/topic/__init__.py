"""Rows of topic crawls: the topic, the pages read for it, the web they form."""
