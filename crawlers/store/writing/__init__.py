"""What is written during a crawl: `writer` commits the change sets in order, in batches, in its thread."""
