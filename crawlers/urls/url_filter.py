"""Which of the new URLs of the sites of a crawl are worth a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.reasons import Reason
from crawlers.urls.normalization import Normalization
from crawlers.urls.resolution import resolve
from crawlers.urls.trap_watch import shape_reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawlers.items import Target
    from crawlers.urls.url_expressions import UrlSelection


class UrlFilter:
    """Rejects by the *selection* of the user and the *folders* of sites, /path/ by site; by extension (*extensions*:
    lower case, without dot); and, with *traps*, by the URL's shape. *options* are the steps of the normal form.
    """

    def __init__(
        self,
        extensions: Iterable[str] = (),
        *,
        traps: bool = True,
        selection: UrlSelection | None = None,
        folders: Mapping[str, str] | None = None,
        options: Normalization | None = None,
    ) -> None:
        self._extensions = frozenset(e.lower().lstrip(".") for e in extensions)
        self._traps = traps
        self._selection = selection
        self._options = options or Normalization()
        self._folders = dict(self._of_folder(*one) for one in (folders or {}).items())
        self._always: set[int] = set()

    def _of_folder(self, site: str, folder: str) -> tuple[str, tuple[str, str]]:
        """Return the site as targets name it, and the folder with the beginning of the paths in it."""
        target = resolve(f"{site}{folder}", "", self._options)
        return target.site, (folder, _path_of(target).rstrip("/") + "/")

    def select(self, target: Target) -> bool:
        """Select a start URL whatever folder and selection say; return whether it is in the folder of its site."""
        self._always.add(target.key)
        return self._is_in_folder(target, _path_of(target))

    def reason_against(self, target: Target) -> str | None:
        """
        >>> UrlFilter(["pdf"]).reason_against(resolve("http://a.example/", "/x.PDF?page=2"))
        'extension pdf'
        """
        path = _path_of(target)  # all variants of a URL share one verdict
        if target.key not in self._always and (reason := self._not_selected(target, path)) is not None:
            return reason
        _, dot, extension = path.rpartition("/")[2].rpartition(".")
        if dot and extension.lower() in self._extensions:
            return Reason.EXTENSION.of(extension.lower())
        return shape_reason(target.normalized) if self._traps else None

    def leaves_out(self, target: Target) -> bool:
        """Return whether folder and selection leave a URL out. Changes nothing, so that any thread may call it."""
        if target.key in self._always:
            return False
        return self._not_selected(target, _path_of(target)) is not None

    def _not_selected(self, target: Target, path: str) -> str | None:
        if not self._is_in_folder(target, path):
            return Reason.OUTSIDE_FOLDER.of(self._folders[target.site][0])
        return None if self._selection is None else self._selection.reason_against(target.normalized)

    def _is_in_folder(self, target: Target, path: str) -> bool:
        if target.site not in self._folders:
            return True
        prefix = self._folders[target.site][1]
        return path.startswith(prefix) or f"{path}/" == prefix


def _path_of(target: Target) -> str:
    """Return the path of a normal form, which has one; `urlsplit` takes ten times as long."""
    url = target.normalized.partition("#")[0].partition("?")[0]
    return url[url.find("/", 8) :]
