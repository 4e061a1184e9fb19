"""Lets waiting pages take other places when the rules about URLs change: some at a time, and all in the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.algorithms.urls.domains import rule_domain
from crawlers.frontier.protocols import BEFORE_ALL
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.schema.tables import SiteRules

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlers.algorithms.news.url_classifier import UrlClassifier
    from crawlers.frontier.protocols import CrawlFrontier, Position
    from crawlers.storage.news.stored_polls import QueuedSite


class Requeue:
    """By the rules of *rulebook*, in *frontier*.

    The store keeps by which rules the pages of each site have their places: what a run left unfinished, or a person
    changed between two runs, is seen when the next one begins.
    """

    def __init__(self, classifier: UrlClassifier, frontier: CrawlFrontier) -> None:
        self._classifier = classifier
        self._frontier = frontier
        self._names: dict[int, str] = {}  # of sites
        self._domains: dict[str, list[int]] = {}  # the sites of which each is the host
        self._unfinished: dict[int, Position] = {}  # where to go on, by site

    def recall(self, sites: Iterable[QueuedSite]) -> ChangeSet:
        """Take up the *sites* of earlier runs; what is to be written before the first `step`."""
        changes = ChangeSet()
        for site_id, name, rules, waits in sites:
            self.met(site_id, name)
            now = self._classifier.fingerprint(name)
            if rules == now:
                continue
            changes.add(SiteRules(site_id, None if waits else now))
            if waits:
                self._unfinished[site_id] = BEFORE_ALL
        return changes

    def met(self, site_id: int, name: str) -> None:
        """There is a site of that *name*: its pages are placed anew when its rules change."""
        if site_id not in self._names:
            self._names[site_id] = name
            self._domains.setdefault(rule_domain(name), []).append(site_id)

    def changed(self, domain: str, changes: ChangeSet) -> None:
        """The rules of *domain* are others now; *changes* is written before the next `step`."""
        below = f".{domain}"
        for name, sites in self._domains.items():
            if name == domain or name.endswith(below):
                self._unfinished.update(dict.fromkeys(sites, BEFORE_ALL))
                changes.add(*(SiteRules(site_id, None) for site_id in sites))

    def step(self, changes: ChangeSet, now: float) -> None:
        """Place some pages of one site; when it has no more, *changes* says so."""
        if not self._unfinished:
            return
        site_id, after = next(iter(self._unfinished.items()))
        name = self._names[site_id]
        reached = self._frontier.requeue(site_id, name, self._classifier.slot, now, after)
        if reached is not None:
            self._unfinished[site_id] = reached
        else:
            del self._unfinished[site_id]
            changes.add(SiteRules(site_id, self._classifier.fingerprint(name)))
