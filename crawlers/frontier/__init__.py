"""What waits, and what is fetched next, in which order.

`protocols` is the contract, `frontier` the logic of one process, `backends` where it is kept. Which site is for
`site_schedule` and the site rule, which page for the queues and the page order, when for `politeness`.
"""
