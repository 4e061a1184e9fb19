"""Turns responses into values: bytes in, values out. Nothing here fetches, stores or reads settings.

`response` turns a response into a `Page`, with `html` and `charset`; `feeds` and `article` serve news crawls,
`page_analysis` topic crawls. `pool` runs functions that are slow or may crash in worker processes.
"""
