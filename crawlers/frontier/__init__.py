"""The URLs that wait, and the order in which they are fetched.

`frontier` is the logic of one process, `protocols` has what it takes and gives, `frontier_writes` what it submits,
`backends` its storage. `site_schedule` and the site rule choose the site, the queues and the page order choose the
page, `politeness` determines the time.
"""
