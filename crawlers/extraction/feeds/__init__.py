"""Feeds and sitemaps of any format, as functions of their bytes. Begin with `feed_reader`."""
