"""URLs: resolution of links, normal forms and keys, sites and domains, the scope of a crawl.

`resolution` turns a link into a `Target`; `normalization` says which spellings are one page.
"""
