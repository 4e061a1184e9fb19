"""The URLs that wait, and the order in which they are fetched.

`protocols` is the contract, `frontier` the logic of one process, `frontier_writes` what it submits, `backends` its
storage. `site_schedule` and the site rule choose the site, the queues and the page order choose the page, `politeness`
determines the time.
"""
