"""Numbers of sites by what they wait for."""

import random
from collections import Counter

from crawlers.frontier.site_schedule import WaitCounts
from crawlers.storage.worker_status import Wait


def test_each_site_is_counted_once():
    rng = random.Random(1)
    waits, true = WaitCounts(), {}
    for _ in range(2000):
        site = rng.randrange(50)
        if rng.random() < 0.2:
            waits.drop(site)
            true.pop(site, None)
        else:
            true[site] = rng.choice(list(Wait))
            waits.set(site, true[site])
        assert waits.counts() == dict(Counter(true.values()))
