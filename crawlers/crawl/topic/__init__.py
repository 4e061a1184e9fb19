"""What a topic crawl decides: its topic, which it keeps in the store, and when pages may be requested."""
