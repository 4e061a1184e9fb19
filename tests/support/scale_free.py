"""Webs like the web: a few pages have most of the links to them, and some pages have no links. Made by copying.

References
----------
.. [1] Kumar, Raghavan, Rajagopalan, Sivakumar, Tomkins, Upfal (2000), Stochastic models for the web graph, FOCS 2000.
"""

from math import log

_MEAN_LINKS = 10  # of a page
_SINKS_P = 0.08  # of pages without links
_COPY_P = 0.8  # of a link that is copied from another page


def copy_model(pages, rng):
    """Return the targets of the links of each page, which are numbered from 1.

    Pages appear in the order of their numbers, and whenever one does, some page, old or not yet there, gets all of its
    links. Each is copied from a page that got its links before, the same for all of them, or leads to any page that
    appeared: the older a page, the more links lead to it. A page that is no sink has a geometrically distributed number
    of links; they are distinct, and none leads to the page itself.
    """
    rate = -log(1.0 - (1.0 - _SINKS_P) / _MEAN_LINKS)
    links = {page: [] for page in range(1, pages + 1)}
    models = []
    for newest, page in enumerate(rng.sample(range(1, pages + 1), pages), 1):
        count = 0 if rng.random() < _SINKS_P else 1 + int(rng.expovariate(rate))
        model = rng.choice(models) if models else []
        targets = {}
        while len(targets) < min(count, newest - 1):
            target = rng.choice(model) if model and rng.random() < _COPY_P else rng.randint(1, newest)
            if target != page:
                targets[target] = None
        links[page] = list(targets)
        if targets:
            models.append(links[page])
    return links
