"""How graphs are drawn: positions, communities, colours and sizes of nodes.

Everything here is a function of numbers of nodes and edges; a graph of a crawl is read in `crawlers.graphs`.
"""
