"""Where a frontier keeps its rows: `sql` in the store of the crawl."""
