"""Two crawls of the same sites: what appeared, vanished and changed between them.

Begin with `crawl_changes`, which yields the rows of all tables; `compared_graph` is the same as a graph, and
`comparison_files` writes the files.
"""
