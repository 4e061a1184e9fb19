"""The steps by which a URL became its normal form, for people who want to know why two URLs are the same page."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, NamedTuple

from crawlers.urls.normalization import Normalization
from crawlers.urls.resolution import normalize

STANDARD = "url_standard"  # the step before all others: what every browser does to a URL


class FormStep(NamedTuple):
    """A step that changed the URL: `STANDARD` or a field of `Normalization`, and the URL after it."""

    name: str
    url: str


def form_steps(url: str, options: Normalization) -> list[FormStep]:
    """Return the steps that changed the absolute *url*, in the order of the fields; the last one has its normal form.

    Raises `BadUrl` as `normalize` does.

    >>> for step in form_steps("http://a.example/b/?y=1&x=2&utm_source=z", Normalization()):
    ...     print(step.name, step.url)
    sort_parameters http://a.example/b/?utm_source=z&x=2&y=1
    ignored_parameters http://a.example/b/?x=2&y=1

    Notes
    -----
    The steps of *options* are switched on one after another, so each one is what `normalize` does, and nothing is
    computed in two ways.
    """
    names = [field.name for field in fields(Normalization) if field.init]
    switched: dict[str, Any] = {name: type(getattr(options, name))() for name in names}
    before, steps = url, []
    for name in (STANDARD, *names):
        if name != STANDARD:
            switched[name] = getattr(options, name)
        after = normalize(url, Normalization(**switched))
        if after != before:
            steps.append(FormStep(name, after))
        before = after
    return steps if before != url else []
