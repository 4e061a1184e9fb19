"""Item pipelines: pages into the store, documents to feeds, graphs and results at the end of a crawl."""
