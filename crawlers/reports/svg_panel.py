"""Diagrams as SVG text: stacked bars, lines, and shares by an axis of their own. Nothing but text comes of it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Points = Sequence[tuple[float, float]]

WIDTH, HEIGHT = 760, 250  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 70, 60, 34, 42  # around what is drawn
GAP_SHARE = 0.15  # of a bar's place
MOST_NAMES = 12  # below an axis
LETTER = 6.2  # width, about
WIDEST = 60.0  # of a bar
ROUND = (1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10)  # ends of axes, times a power of ten


class Panel:
    """One diagram; its left axis has numbers, its right one shares from 0 to 100 %.

    Its places are called *names*, one a bar; without names it has numbers from 0 to *span*.
    """

    def __init__(self, left: str, right: str, names: Sequence[str], below: str, *, span: float = 0.0) -> None:
        self._left, self._right, self._below = left, right, below
        self._names = names
        self._span = span or max(1, len(names))
        self._top = 1.0  # of the left axis
        self._stacks: list[tuple[str, Sequence[float]]] = []
        self._lines: list[tuple[str, Points, bool]] = []  # colour, points, whether they are shares
        self._legend: list[tuple[str, str]] = []
        self.note = ""

    def stack(self, parts: Sequence[tuple[str, str, Sequence[float]]]) -> None:
        """Bars of (name, colour, values) upon each other."""
        self._stacks = [(colour, values) for _, colour, values in parts]
        self._legend += [(name, colour) for name, colour, _ in parts]
        sums = [sum(values) for values in zip(*(values for _, _, values in parts), strict=True)]
        self._top = max(self._top, *sums, 0.0) if sums else self._top

    def line(self, name: str, colour: str, points: Points) -> None:
        """A line by the left axis."""
        self._lines.append((colour, points, False))
        self._legend.append((name, colour))
        self._top = max([self._top, *(y for _, y in points)])

    def share(self, name: str, colour: str, points: Points) -> None:
        """A line of shares, by the right axis."""
        self._lines.append((colour, points, True))
        self._legend.append((name, colour))

    def draw(self) -> Iterable[str]:
        """The elements of the diagram, with its corner at 0, 0."""
        top = nice_top(self._top)
        yield from self._axes(top)
        base = [0.0] * len(self._names)
        for colour, values in self._stacks:
            for place, value in enumerate(values):
                if value:
                    width = min(WIDEST, self._x(1 - GAP_SHARE) - LEFT)
                    x, y = self._x(place + 0.5) - width / 2, self._y((base[place] + value) / top)
                    height = self._y(base[place] / top) - y
                    yield f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>'
                base[place] += value
        for colour, points, is_share in self._lines:
            places = [(self._x(x), self._y(y if is_share else y / top)) for x, y in points]
            drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            yield f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="2"/>'
            if len(places) == 1:  # a line of one point would not be seen
                yield f'<circle cx="{places[0][0]:.1f}" cy="{places[0][1]:.1f}" r="3" fill="{colour}"/>'
        yield from self._legend_line()

    def _x(self, value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * value / self._span

    def _y(self, share: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(1.0, share)

    def _axes(self, top: float) -> Iterable[str]:
        for step in range(5):
            y = self._y(step / 4)
            yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>'
            if self._left:
                yield _text(LEFT - 6, y + 4, f"{top * step / 4:,.0f}", "end")
            if self._right:
                yield _text(WIDTH - RIGHT + 6, y + 4, f"{step * 25} %", "start")
        base = HEIGHT - BOTTOM
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{base}" y2="{base}" stroke="#333333"/>'
        every = -(-len(self._names) // MOST_NAMES)
        ticks = [(place + 0.5, name) for place, name in enumerate(self._names) if place % max(1, every) == 0]
        if not self._names:
            ticks = [(self._span * step / 5, f"{self._span * step / 5:,.0f}") for step in range(6)]
        for place, name in ticks:
            yield _text(self._x(place), base + 15, name, "middle")
        note = f" ({self.note})" if self.note else ""
        yield _text((LEFT + WIDTH - RIGHT) / 2, base + 32, self._below + note, "middle")
        middle = (TOP + base) / 2
        for x, words in ((14, self._left), (WIDTH - 10, self._right)):
            yield _text(x, middle, words, "middle", f' transform="rotate(-90 {x} {middle:.1f})"')

    def _legend_line(self) -> Iterable[str]:
        x: float = LEFT
        for name, colour in self._legend:
            yield f'<rect x="{x:.1f}" y="14" width="10" height="10" fill="{colour}"/>'
            yield _text(x + 14, 23, name, "start")
            x += 30 + LETTER * len(name)


def picture(title: str, panels: Sequence[Panel]) -> str:
    """The SVG document of *panels* below each other."""
    height = 30 + HEIGHT * len(panels)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        _text(WIDTH / 2, 20, title, "middle", ' font-size="14"'),
    ]
    for number, panel in enumerate(panels):
        lines += [f'<g transform="translate(0 {30 + HEIGHT * number})">', *panel.draw(), "</g>"]
    return "\n".join([*lines, "</svg>", ""])


def nice_top(largest: float) -> float:
    """The end of an axis: 4 at least, and the least round number that is not below *largest*.

    >>> [nice_top(value) for value in (0.3, 4, 17, 81, 1000, 235_000)]
    [4.0, 4.0, 20.0, 100.0, 1000.0, 240000.0]
    """
    power = 1.0
    while 10 * power < largest:
        power *= 10
    return max(4.0, next(step * power for step in ROUND if step * power >= largest))


def _text(x: float, y: float, words: str, anchor: str, more: str = "") -> str:
    plain = "".join(letter if letter.isprintable() else "\ufffd" for letter in words)  # XML takes no control characters
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(plain)}</text>'
