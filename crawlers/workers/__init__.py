"""Several processes at work on one crawl: claims of sites, links sent between workers, grants of a budget.

Begin with `shared`, the claims of a worker that is not alone; `exchange` has the statements of its rounds. A crawl of
one process imports nothing of this package: see `crawl.claims`.
"""
