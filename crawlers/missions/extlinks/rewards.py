"""A crawl for external links at work: rewards pages by what they lead to that their sites were not rewarded for.

Orders that learn what similar links led to get the places of the links of a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from crawlers.bandits.site_rules import REWARDS
from crawlers.crawl.run import Run
from crawlers.crawl.spec import crawl_of
from crawlers.frontier.values import NO_REWARD, Decision, LinkFacts, Reward
from crawlers.items import LinkPlace, Page, State, Target
from crawlers.ranking import page_orders
from crawlers.store.writing.pulls import counted
from crawlers.store.writing.uncommitted import Uncommitted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from selectolax.lexbor import LexborNode

    from crawlers.bandits.site_rules import RewardKind
    from crawlers.crawl.session import CrawlSession
    from crawlers.crawl.spec import CrawlSpec
    from crawlers.errors import BadUrl
    from crawlers.frontier.values import Lease
    from crawlers.inputs.setting_readers import SettingValues
    from crawlers.items import SiteLimits
    from crawlers.pages.html import ParsedPage
    from crawlers.store.sites.site_opening import SiteRow

ANCESTORS = 6  # of a link that make its path; those of a list have three or four
ID_CHARS = 30
CLASS_CHARS = 300  # in which the first class is looked for
# Elements whose ids name parts of a page; those of others are often different on each page.
PARTS = frozenset({"div", "nav", "section", "table", "ul", "aside"})
_ENDS = frozenset({"body", "html", None})
_DIGITS = re.compile(r"\d+")


class PageLinkPlaces(Mapping[int, LinkPlace]):
    """The places of links, see `link_features`; *targets* are by raw href."""

    in_feeds = None  # as facts of a page

    def __init__(self, parsed: ParsedPage, targets: Mapping[str, Target | BadUrl]) -> None:
        self._parsed = parsed
        self._first = {  # the number of each link among those of the page; earlier ones take the place of later ones
            found.key: index
            for index, href in zip(range(len(parsed.hrefs) - 1, -1, -1), reversed(parsed.hrefs), strict=True)
            if isinstance(found := targets[href], Target)
        }
        self._places: dict[int, tuple[str, str]] = {}  # position and path, by parent

    def __contains__(self, key: object) -> bool:
        return key in self._first

    def __iter__(self) -> Iterator[int]:
        return iter(self._first)

    def __len__(self) -> int:
        return len(self._first)

    def __getitem__(self, key: int) -> LinkPlace:
        index = self._first[key]
        parent = self._parsed.node(index).parent
        if parent is None:
            return LinkPlace("", "", self._parsed.anchor(index))
        if parent.mem_id not in self._places:
            self._places[parent.mem_id] = position(parent), path(parent)
        return LinkPlace(*self._places[parent.mem_id], self._parsed.anchor(index))


def position(parent: LexborNode) -> str:
    """Return the position of the links in *parent*: `grandparent/parent.class`, with the first of several classes.

    Longer paths, or the class of the link itself, do not distinguish groups better.
    """
    grandparent = parent.parent
    return f"{grandparent.tag if grandparent is not None else ''}/{parent.tag}{_first_class(parent)}"


def path(parent: LexborNode) -> str:
    """Return the path of the links in *parent*: up to `ANCESTORS` elements within the body, the outermost first.

    Each with its first class, and those in `PARTS` with their ids, in which numbers are replaced by 0.
    """
    names: list[str] = []
    node: LexborNode | None = parent
    while node is not None and len(names) < ANCESTORS and node.tag not in _ENDS:
        name = (node.attributes.get("id") or "")[:ID_CHARS] if node.tag in PARTS else ""
        names.append(f"{node.tag}{'#' if name else ''}{_DIGITS.sub('0', name)}{_first_class(node)}")
        node = node.parent
    return "/".join(reversed(names))


def _first_class(node: LexborNode) -> str:
    classes = (node.attributes.get("class") or "")[:CLASS_CHARS].split()
    return f".{classes[0]}" if classes else ""


def with_places(page: Page, parsed: ParsedPage, targets: Mapping[str, Target | BadUrl]) -> Page:
    """Return *page* with the places of its links as facts: the `analysis` of missions whose orders learn from links."""
    return replace(page, facts=PageLinkPlaces(parsed, targets))


URLS_PER_KEY = 12  # known URLs in memory for each external URL there that was rewarded


def harvest_of(name: str, sites: Sequence[SiteLimits], settings: SettingValues) -> CrawlSpec:
    """Return the specification of a crawl of *sites* for their external links. Raises `ConfigError`."""
    spec = crawl_of(name, sites, settings, gives={page_orders.REWARDS: True}, has_rewards=True)
    assert spec.reader is not None
    reader = spec.reader
    if settings.get("ORDER") in page_orders.LEARNING:
        reader = replace(reader, analysis=with_places)
    keys = max(1, settings.getint("FRONTIER_CACHE_URLS") // URLS_PER_KEY)
    return replace(spec, reader=reader, open=partial(Rewards, REWARDS[settings.get("REWARD")], cache_keys=keys))


class Rewards(Run):
    """Each page has a *reward*; *cache_keys* bounds the keys in memory: other keys are looked up in the store."""

    def __init__(self, reward: RewardKind, session: CrawlSession, *, cache_keys: int) -> None:
        super().__init__(session.spec.reader, session.reader.run)
        self._reward = reward
        self._database = session.database
        self._recalled: set[int] = set()  # sites of which the store may have keys that were never in memory
        self._paid: Uncommitted[int, set[int]] = Uncommitted(session.writer, max(cache_keys // 2, 1))  # by site

    def load_sites(self, rows: Sequence[SiteRow]) -> Callable[[float], None]:
        """Look up the keys of sites whose pages may have been rewarded before these were opened."""
        return lambda now: self._recalled.update(row.id for row in rows if not row.is_new)

    def close_sites(self, site_ids: Collection[int]) -> None:
        for site_id in site_ids:
            self._recalled.discard(site_id)
            self._paid.young.pop(site_id, None)
            self._paid.old.pop(site_id, None)

    def decide(self, lease: Lease, page: Page, now: float) -> Decision:
        places = page.facts if isinstance(page.facts, PageLinkPlaces) else {}
        return Decision(page, links=LinkFacts(places), reward=self.of(lease.site_id, page))

    def of(self, site_id: int, page: Page) -> Reward:
        """Return the reward of *page*. The caller must submit its keys, which count as rewarded now."""
        if page.state is not State.DONE or not page.external:
            return NO_REWARD
        keys = self._reward.keys(link for link, _ in page.external)
        if not self._reward.only_new:
            return Reward(float(len(keys)))
        self._paid.make_room()
        young = self._paid.young.setdefault(site_id, set())
        new = unknown = keys - young - self._paid.old.get(site_id, set())
        if unknown and (site_id in self._recalled or self._paid.forgotten):
            new = unknown - counted(self._database, site_id, unknown)
        before = len(young)
        young |= keys
        self._paid.count(len(young) - before)
        return Reward(float(len(new)), new)
