"""What a response says: bytes in, values out. Nothing here fetches, stores or reads settings.

`response` turns an answer into a `Page`, by `html` and `charset`; `feeds` and `article` serve news crawls,
`page_analysis` topic crawls. `pool` runs what is slow or may crash in worker processes.
"""
