"""How many sites a worker takes, and how many pulls of the page budget it is granted."""

from __future__ import annotations

from crawlers.bandits.arms import is_near_best

BLOCK = 32  # pulls: a second of a fast worker, and few enough that the rule of another one is soon heard
LEAST_BLOCK = 8  # pulls, if so many are free: the last ones of a budget are not worth a round each


def claim_limit(free: int, takers: int, wanted: int) -> int:
    """Return how many of the *free* sources a worker claims, if it would take *wanted* >= 0 of them.

    *takers* >= 1 is the number of workers without anything to do, with itself: each gets its share, rounded up.

    >>> claim_limit(free=10, takers=4, wanted=100)
    3
    >>> claim_limit(free=10, takers=1, wanted=2)
    2
    """
    return min(wanted, -(-free // takers))


def block(free: int, takers: int, at_hand: int, wanted: int = BLOCK) -> int:
    """Return how many of the *free* pulls one of several workers is granted, so that it has *wanted* of them *at_hand*.

    *takers* >= 1 is the number of workers that have something to fetch, with itself. It gets at most half of its share,
    so that the last pulls of a budget go to the sites that promise most, too; or `LEAST_BLOCK`, if that is more.

    >>> block(free=1000, takers=4, at_hand=10), block(free=160, takers=4, at_hand=0)
    (22, 20)
    >>> block(free=40, takers=4, at_hand=0), block(free=3, takers=4, at_hand=0)
    (8, 3)
    """
    return max(0, min(wanted - at_hand, max(free // (2 * takers), LEAST_BLOCK), free))


def promises_enough(best_index: float | None, greatest: float | None, index_share: float) -> bool:
    """Return whether the best site of a worker promises so much that it is granted pulls.

    *best_index* is the index of that site under the rule of the crawl, None if it has nothing to fetch; *greatest* is
    the greatest one of all active workers. It needs *index_share* in [0, 1] of it; with 0 every index suffices.

    >>> promises_enough(0.9, 1.0, 0.9), promises_enough(0.5, 1.0, 0.9), promises_enough(None, None, 0.0)
    (True, False, False)
    """
    if best_index is None:
        return False
    return index_share <= 0.0 or greatest is None or is_near_best(best_index, greatest, index_share)


def to_give(held: int, idle: int, active: int) -> int:
    """Return how many of the *held* sites with something waiting a worker gives up, so that all can work.

    *idle* of the *active* workers have nothing to do. If the others hold as many sites as this one, all have the same
    number afterwards. The last site is never given up; of several, at least one is.

    >>> to_give(held=10, idle=3, active=4), to_give(held=2, idle=1, active=5), to_give(held=1, idle=3, active=4)
    (7, 1, 0)
    """
    return max(min(1, held - 1), held * idle // active)
