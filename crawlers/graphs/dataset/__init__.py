"""The graph of a whole crawl as partitioned Parquet, for Spark, DuckDB and Polars; begin with `dataset_export`.

`dataset_tables` describes the four tables and reads their rows, `folding` finds the page that stands for each
duplicate and redirect. The database sorts, and everything is streamed: memory depends on neither pages nor links.
"""
