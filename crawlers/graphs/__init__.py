"""Graphs of stored crawls, and their files.

`site_graph` reads the graph of one site, `export` writes it in every format of GRAPH_FORMATS,
`analysis` adds measures, `looks` colours and positions. `web_fragment` is the graph of sites, `crawl_changes`
that of two crawls, `dataset` the graph of a whole crawl as Parquet.
"""
