"""Webs of numbers, the reward of each page of each site, and a crawl of them with one page in flight."""

import random

from hypothesis import strategies as st


class Crawl:
    """Sites given by the rewards of their pages, and named by their numbers."""

    def __init__(self, rule, yields, order=None):
        self.rule = rule
        self.yields = yields
        self.read = [0] * len(yields)
        self.pulls = []  # site and reward, in order
        for site in order or range(len(yields)):
            rule.sleep(site)
        for site in order or range(len(yields)):
            self.settle(site)

    def settle(self, site):
        if self.read[site] < len(self.yields[site]):
            self.rule.wake(site)
        else:
            self.rule.sleep(site)

    def step(self):
        site = self.rule.select(0.0)
        if site is not None:
            self.rule.record_pull(site)
            self.settle(site)
            reward = self.yields[site][self.read[site]]
            self.read[site] += 1
            self.rule.record_reward(site, reward)
            self.settle(site)
            self.pulls.append((site, reward))
        return site

    def run(self, budget):
        """Return the sites chosen until the budget is used or all sites have ended."""
        chosen = []
        while len(chosen) < budget and (site := self.step()) is not None:
            chosen.append(site)
        return chosen

    def resumed(self, rule):
        """Return the same crawl after a crash: a new rule replays the pulls, and then the awake sites."""
        for site in range(len(self.yields)):
            rule.sleep(site)
        for site, reward in self.pulls:
            rule.record_pull(site)
            rule.record_reward(site, reward)
        other = Crawl(rule, self.yields)
        other.read = list(self.read)
        for site in range(len(self.yields)):
            other.settle(site)
        return other


def awake(rule, sites):
    """Return *rule* after all *sites* have woken."""
    for site in sites:
        rule.wake(site)
    return rule


def pulls(rule, times, reward=0.0):
    """Return the sites that are chosen at the *times*, each with that reward; None leaves its pull in flight."""
    chosen = []
    for now in times:
        chosen.append(rule.select(now))
        rule.record_pull(chosen[-1])
        if reward is not None:
            rule.record_reward(chosen[-1], reward)
    return chosen


def rotting(seed, sites, pages=80):
    """Return sites of up to *pages* pages, whose links come in bursts and become rare."""
    rng = random.Random(seed)
    found = []
    for _ in range(sites):
        richness = rng.lognormvariate(0.0, 1.0)
        found.append(
            [
                int(rng.expovariate(0.2)) + 1 if rng.random() < richness * (page + 1) ** -0.5 else 0
                for page in range(rng.randint(1, pages))
            ]
        )
    return found


webs = st.builds(rotting, seed=st.integers(0, 10_000), sites=st.integers(1, 12), pages=st.integers(1, 80))
"""Small webs for hypothesis, generated from a seed."""
