"""What a person reads about a crawl: the history of a URL, tables, searches, charts. Queries of the store only."""
