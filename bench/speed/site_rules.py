"""Measures the site rules: choices (select, started, rewarded) per second, by rule and number of sites.

    python -m bench.speed.site_rules [--steps 20000] [--rules auto,ucb1] [--sites 10,20000]

Rewards come in bursts and become rare, as on the web. A step of the first table is a choice among sites that are
all awake. In the second one, "polite", the site that was read sleeps while half of the sites have their turn, and
then wakes: a step has a choice, a falling asleep and a waking up besides. In the third one, "waiting", such a site
rests instead, and each choice is followed by the question whether to wait for a site that rests. Every site has been
read before as often as the rule begins with: that is when indices change most. Best of three runs.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import deque
from typing import TYPE_CHECKING

from crawlers.algorithms.bandits.site_rules import RULES, RuleOptions

if TYPE_CHECKING:
    from crawlers.algorithms.bandits.site_rules import SiteRule

SITES = (10, 100, 1000, 10_000)
RUNS = 3
OPTIONS = RuleOptions(page_budget=1_000_000_000)
INITIAL = {"gittins": OPTIONS.gittins_batch, "ucb1": OPTIONS.ucb1_initial}  # pages of every site; 1 of the others


class Rewards:
    """What each page brings: the further into a site, the less."""

    def __init__(self, sites: int) -> None:
        self._rng = random.Random(0)
        self._richness = [self._rng.lognormvariate(0.0, 1.0) for _ in range(sites)]
        self._pages = [0] * sites

    def next(self, site: int) -> float:
        """The links of the next page of *site*."""
        self._pages[site] += 1
        p = min(1.0, 0.3 * self._richness[site] * self._pages[site] ** -0.6)
        return float(int(self._rng.expovariate(0.2)) + 1) if self._rng.random() < p else 0.0


def warmed_up(name: str, sites: int) -> tuple[SiteRule, Rewards]:
    """A rule whose sites are awake and have been read as often as the rule begins with."""
    rule, rewards = RULES[name](OPTIONS), Rewards(sites)
    for site in range(sites):
        rule.wake(site)
    for _ in range(INITIAL.get(name, 1)):
        for site in range(sites):
            rule.started(site)
            rule.rewarded(site, rewards.next(site))
    rule.select(0.0)
    return rule, rewards


def all_awake(rule: SiteRule, rewards: Rewards, steps: int) -> float:
    """Seconds of so many choices while all sites are awake."""
    taken = 0.0
    for _ in range(steps):
        start = time.perf_counter()
        site = rule.select(0.0)
        rule.started(site)
        taken += time.perf_counter() - start
        reward = rewards.next(site)
        start = time.perf_counter()
        rule.rewarded(site, reward)
        taken += time.perf_counter() - start
    return taken


def polite(rule: SiteRule, rewards: Rewards, steps: int, asleep: deque[int], most_asleep: int, *, waits: bool) -> float:
    """Seconds of so many choices while the sites that were read last sleep or, if the crawl *waits*, rest."""
    taken = 0.0
    for _ in range(steps):
        start = time.perf_counter()
        site = rule.select(0.0)
        if waits:
            rule.is_close_to_best(site, 0.9)
        rule.started(site)
        (rule.rest if waits else rule.sleep)(site)
        taken += time.perf_counter() - start
        asleep.append(site)
        reward = rewards.next(site)
        start = time.perf_counter()
        rule.rewarded(site, reward)
        if len(asleep) > most_asleep:
            rule.wake(asleep.popleft())
        taken += time.perf_counter() - start
    return taken


def per_second(name: str, sites: int, steps: int, *, is_polite: bool, waits: bool) -> float:
    """Choices per second."""
    best = 0.0
    for _ in range(RUNS):
        rule, rewards = warmed_up(name, sites)
        if is_polite:
            asleep: deque[int] = deque()
            polite(rule, rewards, sites // 2, asleep, sites // 2, waits=waits)
            taken = polite(rule, rewards, steps, asleep, sites // 2, waits=waits)
        else:
            taken = all_awake(rule, rewards, steps)
        best = max(best, steps / taken)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--rules", default=",".join(RULES))
    parser.add_argument("--sites", default=",".join(map(str, SITES)))
    arguments = parser.parse_args()
    numbers = [int(sites) for sites in arguments.sites.split(",")]
    figures: dict[str, dict[str, list[int]]] = {}
    for kind, is_polite, waits in (("all awake", False, False), ("polite", True, False), ("waiting", True, True)):
        print(f"choices per second, {kind}, by number of sites")
        print(f"{'':14}" + "".join(f"{sites:>12,}" for sites in numbers))
        for name in arguments.rules.split(","):
            rates = [
                round(per_second(name, sites, arguments.steps, is_polite=is_polite, waits=waits)) for sites in numbers
            ]
            print(f"{name:14}" + "".join(f"{rate:>12,}" for rate in rates), flush=True)
            figures.setdefault(kind, {})[name] = rates
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
