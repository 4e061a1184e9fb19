"""URLs: resolution of links, normal forms and keys, redirects, sites and domains, the scope of a crawl, traps. Pure.

Begin with `resolution`, which turns a link into a `Target`; `normalization` defines which URL variants are the same
page. `trap_watch` detects endless parts of sites, such as calendars and session ids, by the content of their pages.
"""
