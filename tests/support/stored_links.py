"""Stored harvests: pages, the links by which they were found, and what they brought."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crawlers.items import LinkPlace
from crawlers.ranking.link_features import link_features
from crawlers.ranking.link_values import text_of
from crawlers.store.reading import crawls
from crawlers.store.schema.tables import LinkFeaturesRow, PullRow
from crawlers.urls.keys import url_key
from tests.support.stored_rows import begin, ended_page, new_page, page_ids, write_rows


class LinkedPage(NamedTuple):
    """A page of level 1 that was read; its title is the text of the link to it."""

    path: str
    reward: float
    text: str = ""


def store_harvest(database, web, *, name="extlinks", mission="extlinks", order="learnt", reward="new_links"):
    """Store a crawl that read the home page and the *web*'s pages of each site; return its number."""
    crawl = begin(database, *web, name=name, mission=mission, ORDER=order, REWARD=reward)
    for site in crawl.sites:
        pages = [LinkedPage("/", 50.0), *web[site.site]]
        for number, one in zip(page_ids(database, len(pages)), pages, strict=True):
            url, level = f"{site.site}{one.path}", int(one.path != "/")
            ended = ended_page(number, title=one.text, content_type="text/html", size_bytes=9)
            found = new_page(number, site.id, key=url_key(url), url=url, level=level)
            write_rows(database, found, ended, PullRow(site.id, number, one.reward, 1.0))
            if order == "learnt" and level:
                features = link_features(site.site, url, level, 0, LinkPlace("ul/li", "ul/li", one.text))
                write_rows(database, LinkFeaturesRow(number, text_of(np.array(features, np.uint32))))
    crawls.end(database, crawl.id, finished=True, reason="finished", now=2.0)
    return crawl.id
