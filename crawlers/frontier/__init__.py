"""The URLs that wait, and the order in which they are fetched.

`frontier` is the logic of one process, `values` has its arguments and results, `discovery` and `acknowledgement` make
the rows that it submits, `sql_store` has its queries. `site_schedule` and the site rule choose the site, the queues and
the page order choose the page, `politeness` determines the time.
"""
