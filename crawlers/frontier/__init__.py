"""The URLs that wait, and the order in which they are fetched; in the order in which a URL passes through:

`discovery` recognises found URLs and writes new ones, `site_queue` (or `value_queue`, if the order learns from links)
holds those that wait on one site, `site_schedule` chooses the site and the time with the rule, `budget` and
`politeness`. `frontier` leases a URL and ends its lease, `acknowledgement` makes the rows of its page, `scoring` keeps
the scores of an order. `values` has the arguments and results, `sql_store` the queries, also of what is
stored of a site that is opened.
"""
