"""What people see of a news crawl: documents, sources, rules; tables, pictures and searches."""
