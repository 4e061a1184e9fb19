"""The queue of a site whose best page scores most."""

from __future__ import annotations

import pytest

from crawlers.algorithms.opic import OPIC
from crawlers.algorithms.page_scores import BestQueue


class Fixed(OPIC):
    """Scores that are told: those of the pages, and the offsets of the queues."""

    def __init__(self, scores: dict[int, float], offsets: tuple[float, float]) -> None:
        super().__init__()
        self._told, self._told_offsets = scores, offsets

    def score(self, page: int) -> float:
        return self._told[page]

    def offset(self, queue: int) -> float:
        return self._told_offsets[queue]


@pytest.mark.parametrize(
    ("scores", "offsets", "chosen"),
    [
        ({1: 1.0, 2: 2.0}, (0.0, 0.0), 1),
        ({1: 3.0, 2: 2.0}, (0.0, 0.0), 0),
        ({1: 1.0, 2: 2.0}, (5.0, 3.0), 0),
        ({1: 1.0, 2: 2.0}, (3.0, 3.0), 1),
        ({1: 2.0, 2: 2.0}, (0.0, 0.0), 0),
        ({1: 1.0, 2: 2.0}, (1.0, 0.0), 0),
    ],
)
def test_score_and_offset_together_decide_and_of_equals_the_lower_queue(
    scores: dict[int, float], offsets: tuple[float, float], chosen: int
) -> None:
    queues = BestQueue(Fixed(scores, offsets))
    assert queues.choose([(0, 1), (1, 2)]) == chosen
    assert queues.choose([(1, 2), (0, 1)]) == chosen


def test_it_chooses_by_cash() -> None:
    scores = OPIC(uncrawled_weight=3.0)
    for page in (1, 2, 3):
        scores.found(page, 0)
    scores.fetched(1, {2: 1.0})
    scores.fetched(2, {1: 1.0})
    assert scores.cash(1) > scores.cash(3)
    queues = BestQueue(scores)
    assert queues.choose([(0, 3), (1, 1)]) == 1
    assert queues.choose([(0, 3), (1, 2)]) == 0


def test_it_learns_nothing_from_pulls() -> None:
    queues = BestQueue(Fixed({1: 1.0, 2: 2.0}, (0.0, 0.0)))
    queues.started(1)
    queues.rewarded(1, 9.0)
    queues.cancelled(1)
    assert queues.choose([(0, 1), (1, 2)]) == 1
