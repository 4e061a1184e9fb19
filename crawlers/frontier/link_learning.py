"""What an order that learns needs of links: their features, in memory and in the store, and the rewards of pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlers.items import LinkPlace
from crawlers.ranking.link_features import link_features
from crawlers.ranking.link_values import MOST_COMPARED, text_of
from crawlers.store.schema.tables import LinkFeaturesRow
from crawlers.store.writing.pulls import read_features

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from numpy.typing import NDArray

    from crawlers.frontier.sql_store import SqlFrontierStore
    from crawlers.frontier.values import Origin
    from crawlers.items import Target
    from crawlers.ranking.link_values import Features, Rows
    from crawlers.ranking.page_orders import LinkLearner
    from crawlers.store.writing.pulls import Pull

NO_PLACE = LinkPlace("", "", "")


class LinkLearning:
    """The features of the links to all pages that wait or are leased, and their *values*.

    Those of a page are in its site's queue while it waits there, else in this object. Home pages have none.
    """

    def __init__(self, values: LinkLearner, store: SqlFrontierStore) -> None:
        self.compared = MOST_COMPARED  # waiting URLs of a site whose values are compared, at most
        self.scores, self.close = values.page_scores, values.close
        self.learnt = 0  # downloads; as long as it is the same, what is learnt changes no value
        self._values = values
        self._store = store
        self.features: dict[int, Features] = {}  # of pages that are in no queue; home pages have none
        self._reported = 0

    def compare(self, urls: int) -> int:
        """Compare that many waiting URLs of a site from now on, or the nearest possible number; return it."""
        self.compared = min(MOST_COMPARED, urls)
        return self.compared

    def values(self, pages: NDArray[np.int64], features: Rows) -> NDArray[np.float64]:
        """Return the values of links to *pages*, one for each row of *features*."""
        return self._values.compared(pages, features)

    def add_link(self, page_id: int, site: str, target: Target, origin: Origin) -> list[LinkFeaturesRow]:
        """Note the link to *target* by which a page was found that waits now; return its row.

        The target of a redirect has the features of the page that redirects to it, which is leased. Home pages, and the
        targets of their redirects, have none.
        """
        if origin.follows is not None:
            features = self.features.get(origin.follows)
        elif origin.level > 0:
            place, found_on = origin.places.get(target.key, NO_PLACE), origin.found_on or 0
            features = np.array(link_features(site, target.url, origin.level, found_on, place), np.uint32)
        else:
            features = None
        if features is None:
            return []
        self.features[page_id] = features
        return [LinkFeaturesRow(page_id, text_of(features))]

    def load_features(self, page_ids: Collection[int]) -> None:
        """Read the features of pages that wait from the store."""
        self.features.update(self._store.link_features(page_ids))

    def learn_reward(self, page_id: int, reward: float) -> None:
        """Learn the *reward* of a download of a leased page."""
        features = self.features.get(page_id)
        self.learnt += 1
        self._values.learn([] if features is None else features.tolist(), reward)

    def has_learnt(self) -> bool:
        """Return whether anything was learnt since the last call."""
        has_learnt, self._reported = self.learnt > self._reported, self.learnt
        return has_learnt

    def forget(self, page_ids: Iterable[int]) -> None:
        """Forget the features of pages that will not be requested (again) by this worker."""
        for page_id in page_ids:
            self.features.pop(page_id, None)

    def learn(self, pulls: Iterable[Pull]) -> Iterator[Pull]:
        """Learn from *pulls* of earlier runs and of other workers; yield each of them. Raises `StoreError`."""
        for pull in pulls:
            self.learnt += 1
            features = [] if pull.features is None else read_features(pull.features, "the store").tolist()
            self._values.learn(features, pull.reward)
            yield pull
