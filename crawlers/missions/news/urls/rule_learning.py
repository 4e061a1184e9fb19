"""Learns the URL rules of a news crawl in another process, and applies them."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from crawlers.errors import StoreError
from crawlers.missions.news.urls.rule_learner import learn_rules
from crawlers.missions.news.urls.stored_rules import LearntRulesRow
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.domains import rule_domain

if TYPE_CHECKING:
    from crawlers.missions.news.news_sites import NewsParts

logger = logging.getLogger(__name__)

Call = Callable[..., Awaitable[Any]]  # of `ExtractionPool.run_patiently`


class RuleLearning:
    """Learns the rules of domains that became due. *call* runs a function in another process."""

    def __init__(self, parts: NewsParts, call: Call) -> None:
        self._classifier = parts.classifier
        self._requeue = parts.requeue
        self._frontier = parts.frontier
        self._call = call
        self._due: dict[str, tuple[str, float]] = {}  # domains, with a site and a time
        self._raised: set[str] = set()  # domains whose learning raised an exception

    @property
    def has_more(self) -> bool:
        """Whether rules are due, or are being learnt."""
        return bool(self._due) or bool(self._classifier.learning)

    def labelled(self, site: str, now: float) -> None:
        """Note that there is a further label of *site*: rules may be due."""
        if self._classifier.is_due(site):
            self._due[rule_domain(site)] = site, now

    async def run(self) -> None:
        """Let rules that are due be learnt, and apply them.

        A page waits for those that became due before it was read: with one request in flight, that is the next one.
        Only the latest task of a domain counts, so its rules never go back to those of fewer labels. There is one at a
        time, unless the labels of a domain are forgotten and come back while its rules are learnt.
        """
        learning = self._classifier.learning
        while (domain := next((one for one in self._due if one not in learning), None)) is not None:
            site, now = self._due.pop(domain)
            if (task := self._classifier.task(site)) is None:
                continue
            rules: Any = "was cancelled"
            try:
                rules = await self._call(f"rules of {domain}", learn_rules, task, now)
            except Exception as error:  # no page is to be lost by it
                if domain not in self._raised:
                    self._raised.add(domain)
                    logger.exception("%s: learning its URL rules raised an exception", domain)
                rules = f"raised {type(error).__name__}: {error}"
            finally:
                if isinstance(rules, str):
                    self._classifier.record_failure(domain, task)
            if isinstance(rules, str):
                message = "%s: its URL rules can't be learnt: learning %s; it is tried again after further labels"
                logger.warning(message, domain, rules)
            elif (learnt := self._classifier.apply_rules(domain, task, rules)) is not None:
                changes = ChangeSet(LearntRulesRow(domain, learnt.rules))
                if learnt.is_change:
                    self._requeue.changed(domain, changes)
                try:
                    self._frontier.submit(changes, now)
                except StoreError:
                    return  # the next page meets it again, and ends the crawl
