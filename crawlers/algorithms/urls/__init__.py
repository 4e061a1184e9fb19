"""URLs: resolution of links, normal forms and keys, redirects, sites and domains, the scope of a crawl.

Begin with `resolution`, which turns a link into a `Target`; `normalization` defines which URL variants are the same
page.
"""
