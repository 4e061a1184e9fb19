"""The database: what a crawl knows, found and decided.

Begin with `schema`, which describes the tables, and `database`, which opens them. `writing` has the single writer and
the rows that it writes, `reading` the queries, `sites` the sites of a crawl and of the list of seeds.
"""
