"""Files that are read and written for people: text, YAML, CSV, Parquet; written atomically."""
