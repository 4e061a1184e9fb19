"""A model of crawls of random webs, page by page, in dicts. It shares no code with the frontier."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from crawlers.algorithms.urls.resolution import resolve
from crawlers.items import State
from tests.support.naive_opic import NaiveOPIC

Name = tuple[int, int]  # of a page: its site, its number there
Links = dict[Name, int]


@cache
def target_of(name):
    root = f"http://host{name[0]}.test"
    return resolve(f"{root}/", f"{root}/p{name[1]}/")


@cache
def name_of(url):
    host, _, path = url.removeprefix("http://host").partition(".test/p")
    return int(host), int(path.rstrip("/"))


@dataclass
class Visited:
    """A page as of its last visit."""

    state: State = State.WAITING
    text: int = 0  # stands for the content
    links: Links = field(default_factory=dict)
    page_changes: int = 0
    link_changes: int = 0

    def looks(self, state, text):
        return (self.state, self.text) == (state, text)


class Story:
    """The expected state: cash page by page, and the current pages."""

    def __init__(self, weight):
        self.opic = NaiveOPIC(uncrawled_weight=weight)
        self.pages: dict[Name, Visited] = {}

    def found(self, names, level):
        for name in names:
            if name not in self.pages:
                self.pages[name] = Visited()
                self.opic.add_waiting(name, level)  # type: ignore[arg-type]

    def paid(self, name):
        self.opic.fetched(name, dict(self.pages[name].links))  # type: ignore[arg-type]

    def is_now(self, name, state, text, links, *, is_revisit):
        page = self.pages[name]
        if is_revisit:
            page.page_changes += 1
            page.link_changes += sum(page.links.get(to) != links.get(to) for to in page.links.keys() | links.keys())
        page.state, page.text, page.links = state, text, links
