"""What people and sites say about sites: hosts.txt and seeds, robots.txt, sitemaps. Nothing here fetches or stores.

Readers of files raise `ConfigError` with file, line, value and remedy.
"""

MAX_INFLATED = 50_000_000  # bytes of a sitemap or feed; the limit of the sitemap protocol
