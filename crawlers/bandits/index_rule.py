"""Index rules: every site has a number, its index, and the site with the largest index is chosen.

An index is computed again when its site changes, and all indices together after each pull of a crawl of up to `EXACT`
sites, or whenever the number of pulls has grown by a 32nd. In between, only the logarithm of the number of pulls and
the pooled scale are out of date. The times of these refreshes depend on the pulls, not on the choices, so that a
resumed crawl has the same ones.

With several pulls in flight a site has two indices. Its *index* counts pulls in flight with reward 0: no results can
make it lower. Its *prospect* is the index without them. A site whose index is near the prospects of all others would
be chosen with one pull in flight as well, whatever the results in flight turn out to be: see `is_close_to_best`
([1]_; the constant liar of [2]_, whose lie here is the lowest reward).

Two rules learn little: equal shares, and for orders whose scores are comparable across sites the site of the best page.
Those of BeeBot are as published [3]_: R2, which the paper calls "Gittins index", and R3, UCB1 [4]_.

The rule `auto` is the lowest of three recent means, plus an exploration bonus scaled by the usual jump: RAW-UCB [5]_
with five changes, which were found on simulated webs and real sites:

- three windows instead of many, each with an allowance, because short windows are low by mere chance;
- a bonus that depends on all pulls of a site and not on the window, so that a burst of links does not restart the
  exploration of its site;
- every one of K sites first gets sqrt(n) - K/2 of n pages, because a bonus gives up sites that begin without links,
  as newsletters, whose home page is empty and whose archive is full;
- as scale, the mean absolute difference of successive rewards of a site instead of the standard deviation;
- rewards are capped at ten times that of a usual good page, or at four times with ORDER=learnt: a page with
  thousands of links would raise the scale, and keep the rule at its site, for a thousand pulls.

References
----------
.. [1] Joulani, Gyorgy, Szepesvari (2013), Online Learning under Delayed Feedback: the cost of a delay grows with the
   pulls in flight.
.. [2] Ginsbourger, Le Riche, Carraro (2010), Kriging Is Well-Suited to Parallelize Optimization, sect. 4.2.
.. [3] BeeBot: Pechnikov, Chernobrovkin, Adaptive crawler for the search and gathering of external hyperlinks (in
   Russian), rules R2 and R3.
.. [4] Auer, Cesa-Bianchi, Fischer (2002), Finite-time Analysis of the Multiarmed Bandit Problem, fig. 1 (UCB1).
.. [5] Seznec, Menard, Lazaric, Valko (2020), A single algorithm for both restless and rested rotting bandits (RAW-UCB).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from array import array
from typing import TYPE_CHECKING, ClassVar, Generic

from crawlers.bandits.arms import A, Arm, ArmRule, IndexedHeap
from crawlers.bandits.site_rules import OPTIMISM, REWARD_CAP

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from crawlers.bandits.arms import Priority

EXACT = 64  # sites at most whose indices are all computed after every pull, which takes some 100 us
REFRESH = 32  # after n pulls, all indices are computed every n/32 pulls: at most 32 per pull, as every site has one


class Pool:
    """Statistics of the known rewards of all arms together."""

    __slots__ = ("arms", "jump_total", "jumps", "largest", "pulls", "total")

    def __init__(self) -> None:
        self.pulls = 0  # not those in flight
        self.total = 0.0
        self.largest = 0.0
        self.arms = 0  # with a known reward; only `RecentUCB` counts them, and
        self.jumps = 0  # pairs of successive rewards of the same arm
        self.jump_total = 0.0  # sum of their absolute differences


class _Ranking(Generic[A]):
    """Arms by *priority*, computed again when they change or when all are refreshed; None for one that is left out."""

    def __init__(self, priority: Callable[[A], Priority | None]) -> None:
        self._priority = priority
        self._heap = IndexedHeap()
        self._refreshes = -1  # so many when all priorities were computed
        self._outdated: set[A] = set()  # arms that changed since then

    def changed(self, arm: A) -> None:
        """Note that the priority of *arm* has changed, or that it is to be ranked now."""
        self._outdated.add(arm)

    def updated(self, refreshes: int, arms: Iterable[A]) -> IndexedHeap:
        """Return the numbers of *arms* by priority, after that many *refreshes* of all."""
        for arm in self._outdated if self._refreshes == refreshes else arms:
            priority = self._priority(arm)
            if priority is None:
                self._heap.remove(arm.number)
            else:
                self._heap.put(arm.number, priority)
        self._refreshes = refreshes
        self._outdated.clear()
        return self._heap


class IndexRule(ArmRule[A]):
    """The awake site with the largest index, after the first *initial* pages of every site.

    The initial pages are read breadth first: page 1 of all sites, page 2 of all, … Ties: the least pulled site, then
    the order of discovery.

    A subclass computes in `_value` the index of an arm with *initial* pulls or more. If it *pools*, it computes in
    `_tune` what all indices have in common, from the `Pool`; else the index of an arm depends on that arm only.

    Notes
    -----
    O(log K) per choice among K sites, and K indices if K <= `EXACT`, else 32 K/n, amortised.
    """

    has_index = True
    pools: ClassVar[bool] = False

    def __init__(self, make: Callable[[Hashable, int], A], initial: int = 0) -> None:
        super().__init__(make)
        self._initial = initial
        self._pool = Pool()
        self._refreshes = 0  # of all indices
        self._refresh_at = 1  # pulls with a known reward
        self._by_index: _Ranking[A] = _Ranking(lambda arm: self._priority(arm) if arm.is_awake else None)
        self._by_prospect: _Ranking[A] = _Ranking(self._prospect_priority)  # arms that are awake or rest
        self._by_worth: _Ranking[A] = _Ranking(lambda arm: (-self._index(arm),))  # all arms, for `best_index`

    def _tune(self, pool: Pool) -> None:
        """Compute what the indices have in common; *pool* has at least one pull."""

    @abstractmethod
    def _value(self, arm: A) -> float:
        """Return the index of *arm*, whose initial pages were pulled."""

    def _index(self, arm: A) -> float:
        return math.inf if arm.pulls < self._initial else self._value(arm)

    def _priority(self, arm: A) -> Priority:
        return (-self._index(arm), arm.pulls)

    def index(self, arm: Hashable) -> float | None:
        """Return the index of *arm*, which the rule maximises; infinity while it has initial pages left."""
        found = self._known.get(arm)
        return math.inf if found is None else self._index(found)

    def best_index(self, is_wanted: Callable[[Hashable], bool]) -> float | None:
        """Return the largest index of the arms for which *is_wanted* returns True; None if it does for none.

        Of more than `EXACT` arms, an unwanted one is left out from then on until it changes, wakes, or all are
        refreshed. O(log K), amortised, and at most 32 indices for each pull since the last call.
        """
        if len(self._arms) <= EXACT:
            return max((self._index(arm) for arm in self._arms if is_wanted(arm.name)), default=None)
        ranked = self._by_worth.updated(self._refreshes, self._arms)
        first = ranked.first_wanted(lambda number: is_wanted(self._arms[number].name))
        return None if first is None else self._index(self._arms[first])

    def select(self, now: float) -> Hashable | None:
        """Return the arm with the largest index, or None if all sleep."""
        first = self._by_index.updated(self._refreshes, self._arms).first()
        return None if first is None else self._arms[first].name

    def _compare(self, arm: A) -> tuple[float, float] | None:
        """Return the index of *arm*, and the best prospect of other sites.

        None until a site has earned anything, and while *arm* has initial pages left.
        """
        if arm.pulls < self._initial or not self._pool.total:
            return None
        other = self._best_other(arm)
        return None if other is None else (self._value(arm), self._prospect(other))

    def _best_other(self, but: A) -> A | None:
        """Return the arm with the largest prospect other than *but* that is awake or rests; None if there is none."""
        first = self._by_prospect.updated(self._refreshes, self._arms).first_but(but.number)
        return None if first is None else self._arms[first]

    def _prospect(self, arm: A) -> float:
        """Return the index of *arm* without its pulls in flight; infinity while fewer than the initial ones ended."""
        in_flight = arm.pending
        arm.pulls -= in_flight
        arm.pending = 0
        try:
            return self._index(arm)
        finally:
            arm.pulls += in_flight
            arm.pending = in_flight

    def _prospect_priority(self, arm: A) -> Priority | None:
        return (-self._prospect(arm),) if arm.is_awake or arm.is_resting else None

    def _record_reward(self, arm: A, reward: float) -> None:
        pool = self._pool
        pool.pulls += 1
        pool.total += reward
        pool.largest = max(pool.largest, reward)
        if self.pools and pool.pulls >= self._refresh_at:
            self._refresh_at = pool.pulls + (1 if len(self._arms) <= EXACT else max(1, pool.pulls // REFRESH))
            self._refreshes += 1
            self._tune(pool)

    def _changed(self, arm: A) -> None:
        for ranking in (self._by_index, self._by_prospect, self._by_worth):
            ranking.changed(arm)


class ValuedArm(Arm):
    """An arm with a value: the score of its best page, or the total reward of its share."""

    __slots__ = ("value",)

    def __init__(self, name: Hashable, number: int) -> None:
        super().__init__(name, number)
        self.value = 0.0


class Best(IndexRule[ValuedArm]):
    """The awake site with the greatest value; ties: the least pulled site, then the order of discovery.

    Values are relative to a base that grows with all of them. O(log K) per choice among K sites, amortised.
    """

    weighs_pages = True
    has_index = False

    def __init__(self) -> None:
        super().__init__(ValuedArm)
        self._base = 0.0

    def set_arm_value(self, arm: Hashable, value: float, base: float = 0.0) -> None:
        """Record that the best page of *arm* has the score *value* + *base* now."""
        found = self._known[arm]
        self._base = base
        found.value = value
        self._changed(found)

    def index(self, arm: Hashable) -> None:
        """Return None: an index is a function of pulls."""

    def best_index(self, is_wanted: Callable[[Hashable], bool]) -> float | None:
        """Return the greatest value of the arms for which *is_wanted* returns True; None if it does for none."""
        best = super().best_index(is_wanted)
        return None if best is None else best + self._base

    def _compare(self, arm: ValuedArm) -> tuple[float, float] | None:
        other = self._best_other(arm)
        return None if other is None else (arm.value + self._base, other.value + self._base)

    def _value(self, arm: ValuedArm) -> float:
        return arm.value


class EqualShares(IndexRule[ValuedArm]):
    """R1: q = floor(N/K) pages of every site, the rest of the N pages on the site whose q pages earned most.

    *page_budget* is N; K is the number of sites known when the first pull starts. q is at least 1: if N < K, the first
    N sites get one page each. Shares are spent breadth first (page 1 of all sites, page 2 of all, …). Pages that an
    exhausted site leaves of its share also go to the best site, or to the next best while that sleeps. Ties: order of
    discovery. O(log K) per choice.

    References
    ----------
    .. [1] BeeBot, rule R1 ("trivial"). If K divides N, it is a uniform allocation.
    """

    def __init__(self, page_budget: int) -> None:
        super().__init__(ValuedArm)
        self._page_budget = page_budget
        self._pulls = 0
        self._share = 0  # q; unknown before the first pull

    def _value(self, arm: ValuedArm) -> float:
        """Return the total reward of the share of *arm*; infinity while some of the share is unspent."""
        return arm.value if arm.pulls >= self._share > 0 else math.inf

    def _priority(self, arm: ValuedArm) -> Priority:
        index = self._value(arm)
        return (-index, arm.pulls if index == math.inf else 0)

    def _compare(self, arm: ValuedArm) -> None:
        """Return None: no site is waited for."""

    def _record_pull(self, arm: ValuedArm) -> None:
        self._pulls += 1
        if not self._share:
            self._share = max(1, self._page_budget // len(self._arms))

    def _record_reward(self, arm: ValuedArm, reward: float) -> None:
        if arm.pulls - arm.pending <= self._share:
            arm.value += reward

    def _cancel_pull(self, arm: ValuedArm) -> None:
        self._pulls -= 1
        if not self._pulls:
            self._share = 0


class UCB1(IndexRule[Arm]):
    """R3: *initial* pages of every site, then the site with the largest index, page by page.

        I_i = X_i/Xmax + sqrt(2 ln n / t_i)

    X_i is the mean reward of site i, Xmax the largest reward of any page, t_i the number of pulls of i, n that of all;
    while all rewards are 0 (Xmax = 0), the first term is 0.
    """

    pools = True

    def __init__(self, initial: int = 5) -> None:
        super().__init__(Arm, initial)
        self._scale = 0.0
        self._two_ln_n = 0.0

    def _tune(self, pool: Pool) -> None:
        self._scale = 1.0 / pool.largest if pool.largest else 0.0
        self._two_ln_n = 2.0 * math.log(pool.pulls)

    def _value(self, arm: Arm) -> float:
        return arm.total / arm.pulls * self._scale + math.sqrt(self._two_ln_n / arm.pulls)


class BatchGreedy(IndexRule[Arm]):
    """R2: *batch* pages of every site, then batches of that size from the site with the largest mean s_i/t_i.

    A batch that was interrupted, because its site became unavailable, is continued before another one begins. Despite
    its published name, the rule uses no Gittins index but is greedy: a site whose first batch earned nothing is never
    read again while another site has earned anything. O(log K) per choice among K sites.
    """

    def __init__(self, batch: int = 10) -> None:
        super().__init__(Arm, batch)

    def _value(self, arm: Arm) -> float:
        return arm.total / arm.pulls

    def _is_started(self, arm: Arm) -> bool:
        return arm.pulls > self._initial and arm.pulls % self._initial > 0

    def _priority(self, arm: Arm) -> Priority:
        """Return the priority of *arm*: after sites with initial pages left, batches that have begun come first."""
        return (arm.pulls >= self._initial, not self._is_started(arm), *super()._priority(arm))

    def _compare(self, arm: Arm) -> tuple[float, float] | None:
        """Return the means that are compared; None if the batch of *arm* has begun."""
        return None if self._is_started(arm) else super()._compare(arm)


MAX_WINDOW = 4096  # rewards of an arm that are stored; longer windows add little information
MIN_WINDOW = 16  # pulls; fewer are not significant, and any value from 8 to 24 gives the same results


class RecentArm(Arm):
    """An arm that stores its last `MAX_WINDOW` rewards as a ring of prefix sums, and its last jump.

    A jump is the absolute difference of two successive rewards. O(1) per reward, at most 33 KB.
    """

    __slots__ = ("_sums", "jump", "last_reward")

    def __init__(self, name: Hashable, number: int) -> None:
        super().__init__(name, number)
        self._sums = array("d", [0.0])  # of the first 0, 1, 2 … rewards; entry i mod (MAX_WINDOW + 1)
        self.last_reward: float | None = None
        self.jump: float | None = None

    def earn(self, reward: float) -> None:
        """Record the *reward* of a pull in flight as the latest one."""
        super().earn(reward)
        if len(self._sums) <= MAX_WINDOW:
            self._sums.append(self.total)
        else:
            self._sums[(self.pulls - self.pending) % (MAX_WINDOW + 1)] = self.total
        if self.last_reward is not None:
            self.jump = abs(reward - self.last_reward)
        self.last_reward = reward

    def last(self, window: int) -> float:
        """Return the total reward of the last *window* <= `MAX_WINDOW` pulls; those in flight are the last, with 0."""
        before = self.pulls - max(window, self.pending)  # rewards older than the window
        return self.total - self._sums[before % (MAX_WINDOW + 1)]


class RecentUCB(IndexRule[RecentArm]):
    """The lowest of three means, of all pulls of a site and of the latest 2/3 and 4/9 of them, plus a bonus.

        I_i = min over h in {t_i, 2/3 t_i, 4/9 t_i} of (mean of the last h rewards of i + m_i / sqrt(h))
              + c s sqrt(ln n / t_i)

    c is *optimism*; m_i is the mean reward of site i; s is the mean of |x - x'| over all pairs of successive rewards of
    the same site, 0 while there is none; t_i is the number of pulls of site i, n that of all. A reward is capped at
    *reward_cap* times the mean of the earlier rewards that were not 0. Windows of fewer than `MIN_WINDOW` pulls are
    ignored, longer ones than 4096 are truncated. The rule needs no horizon, and is invariant to the unit of rewards.
    I_i is infinite if t_i < sqrt(n) - K/2, for K sites of which a page was read. O(1) per index.

    References
    ----------
    .. [1] Garivier, Kaufmann (2016), Optimal Best Arm Identification with Fixed Confidence: forced exploration.
    """

    pools = True

    def __init__(self, optimism: float = OPTIMISM, reward_cap: float = REWARD_CAP) -> None:
        super().__init__(RecentArm, 1)
        self._optimism = optimism
        self._reward_cap = reward_cap
        self._good_pages = 0  # pulls with a reward above 0
        self._bonus = 0.0
        self._least_pulls = 0.0

    def record_reward(self, arm: Hashable, reward: float) -> None:
        """Record the *reward* >= 0 of a pull of *arm*, capped at *reward_cap* good pages."""
        if reward:
            if self._good_pages:
                reward = min(reward, self._reward_cap * self._pool.total / self._good_pages)
            self._good_pages += 1
        super().record_reward(arm, reward)

    def _tune(self, pool: Pool) -> None:
        scale = pool.jump_total / pool.jumps if pool.jumps else 0.0
        self._bonus = self._optimism * scale * math.sqrt(math.log(pool.pulls))
        self._least_pulls = math.sqrt(pool.pulls) - pool.arms / 2

    def _value(self, arm: RecentArm) -> float:
        pulls = arm.pulls
        if pulls < self._least_pulls:
            return math.inf
        mean = arm.total / pulls
        root = math.sqrt(pulls)
        least = mean + mean / root
        later = 2 * pulls // 3
        for window in (later, 2 * later // 3):
            if window >= MIN_WINDOW:
                recent = min(window, MAX_WINDOW)
                least = min(least, arm.last(recent) / recent + mean / math.sqrt(recent))
        return least + self._bonus / root

    def _record_reward(self, arm: RecentArm, reward: float) -> None:
        if arm.jump is None:
            self._pool.arms += 1
        else:
            self._pool.jumps += 1
            self._pool.jump_total += arm.jump
        super()._record_reward(arm, reward)
