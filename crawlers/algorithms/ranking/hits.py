"""HITS: pages to which many good hubs link are authorities, pages that link to many good authorities are hubs.

SciPy is imported where it is used, because the import takes a tenth of a second, and most commands do not need it.

References
----------
.. [1] Kleinberg (1999), Authoritative Sources in a Hyperlinked Environment, Journal of the ACM 46.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping

    from numpy.typing import NDArray

    _Vector = NDArray[np.float64]

TOLERANCE = 1e-8  # of the change of either vector, of length 1, in one step
MAX_STEPS = 1000  # if two communities are equally strong, the iteration may not converge

Node = TypeVar("Node", bound="Hashable")


class Hits(NamedTuple, Generic[Node]):
    """The two scores of every page, as vectors of length 1, and the number of iterations."""

    authorities: dict[Node, float]
    hubs: dict[Node, float]
    steps: int


def hits(links: Mapping[Node, Collection[Node]]) -> Hits[Node]:
    """Return authorities and hubs of the graph *links*, source to targets.

    Self-links are ignored, and parallel links count once. Without links, all scores are 0.

    >>> scores = hits({"list": ["a", "b"], "other list": ["a"], "a": ["a"]})
    >>> max(scores.authorities, key=scores.authorities.get), max(scores.hubs, key=scores.hubs.get)
    ('a', 'list')

    Notes
    -----
    a <- A^T h, h <- A a, beginning with equal hubs. O(links) per step; the closer the eigenvalues, the more steps.
    """
    numbers: dict[Node, int] = {}
    for source, targets in links.items():
        for page in (source, *targets):
            numbers.setdefault(page, len(numbers))
    kept = [
        (numbers[source], number)
        for source, targets in links.items()
        for number in {numbers[target]: None for target in targets}
        if number != numbers[source]
    ]
    authorities, hubs, steps = _converged(kept, len(numbers))
    return Hits(
        dict(zip(numbers, authorities.tolist(), strict=True)), dict(zip(numbers, hubs.tolist(), strict=True)), steps
    )


def _converged(links: list[tuple[int, int]], pages: int) -> tuple[_Vector, _Vector, int]:
    if not links:
        return np.zeros(pages), np.zeros(pages), 0
    from scipy.sparse import csr_matrix

    sources, targets = np.array(links).T
    matrix = csr_matrix((np.ones(len(links)), (sources, targets)), shape=(pages, pages))
    transposed = matrix.T.tocsr()
    authorities, hubs = np.zeros(pages), np.full(pages, 1.0)
    steps, change = 0, 1.0
    while change >= TOLERANCE and steps < MAX_STEPS:
        steps += 1
        before = authorities, hubs
        authorities = _normalized(transposed @ hubs)
        hubs = _normalized(matrix @ authorities)
        change = float(max(np.linalg.norm(authorities - before[0]), np.linalg.norm(hubs - before[1])))
    return authorities, hubs, steps


def _normalized(vector: _Vector) -> _Vector:
    normalized: _Vector = vector / np.linalg.norm(vector)
    return normalized
