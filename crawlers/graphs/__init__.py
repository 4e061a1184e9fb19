"""Graphs of stored crawls, and their files.

`site_graph` reads the graph of one site, `export` writes it in every format of GRAPH_FORMATS; `files` is the
registry of formats, `analysis` adds measures. `fragment` is the graph of sites.
"""
