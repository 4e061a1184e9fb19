"""Item pipelines: pages are stored, documents exported, graphs and results written at the end of a crawl."""
