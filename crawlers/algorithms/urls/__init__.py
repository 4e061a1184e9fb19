"""URLs: resolution of links, normal forms and keys, sites and domains, the scope of a crawl.

`resolution` turns a link into a `Target`; `normalization` defines which URL variants are the same page.
"""
