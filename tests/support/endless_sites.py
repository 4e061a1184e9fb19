"""Simulated sites without end, and finite ones that look alike: the text and the links of each page by its URL."""

import datetime
import random
import re

DAY = datetime.timedelta(days=1)
MENU = [f"{name}/" for name in ("about", "news", "prices", "shops", "staff")]


class Calendar:
    """A page for each day, with links to days before and after it, without end."""

    def start(self):
        return "http://h/cal?y=2024&m=5&d=17"

    def fetch(self, url):
        parts = dict(part.split("=") for part in url.partition("?")[2].split("&"))
        day = datetime.date(int(parts["y"]), int(parts["m"]), int(parts["d"]))
        near = [day - DAY, day + DAY, day - 30 * DAY, day + 30 * DAY]
        links = [f"http://h/cal?y={one.year}&m={one.month}&d={one.day}" for one in near]
        return f"{day:%A, %d %B %Y}: nothing happens. Back, forth", links


class Listing:
    """`/index.php?id=N`: every page has its own text and links to *width* further ones."""

    def __init__(self, pages, width):
        self.pages, self.width = pages, width

    def start(self):
        return "http://h/index.php?id=0"

    def fetch(self, url):
        number = int(url.rpartition("=")[2])
        words = random.Random(number).choices(["fog", "hill", "lion", "mist", "moor", "owl", "sun", "wind"], k=40)
        first = number * self.width + 1
        links = range(first, min(first + self.width, self.pages))
        return " ".join(words), [f"http://h/index.php?id={one}" for one in links]


class Sessions:
    """Some texts; the links on every page carry new session ids."""

    def __init__(self, url="http://h/page?n={page}&zz={session}", digits=16, texts=120):
        self.url, self.digits, self.texts, self.rng = url, digits, texts, random.Random(7)
        self.page_of = {}

    def link(self, page):
        session = "".join(self.rng.choices("0123456789abcdef", k=self.digits))
        url = self.url.format(page=page, word=self.word(page), session=session)
        self.page_of[url] = page
        return url

    def word(self, page):
        return "p" + "".join("ghijklmnop"[int(digit)] for digit in str(page))

    def start(self):
        return self.link(0)

    def fetch(self, url):
        links = [self.link(self.rng.randrange(self.texts)) for _ in range(3)]
        session = re.findall(f"[0-9a-f]{{{self.digits}}}", links[0])[-1]
        return f"text of {self.word(self.page_of[url])}, your session is {session}", links


class Dates(Calendar):
    """The same with the date as one parameter."""

    def start(self):
        return "http://h/cal?d=2024-05-17"

    def fetch(self, url):
        text, links = super().fetch("?y={}&m={}&d={}".format(*url.rpartition("=")[2].split("-")))
        return text, [re.sub(r"y=(\d+)&m=(\d+)&d=(\d+)", r"d=\1-\2-\3", link) for link in links]


class Folders:
    """Folders with relative links to folders of the same names, down to *deepest*."""

    def __init__(self, names, text, deepest=10**9):
        self.names, self.text, self.deepest = names, text, deepest

    def start(self):
        return "http://h/"

    def fetch(self, url):
        parts = url.split("/")[3:-1]
        return self.text(parts), [f"{url}{name}" for name in self.names if len(parts) < self.deepest]


class Filters:
    """A shop of 60 lamps: every page links to those with one filter of *facets* more, less, or of another value."""

    def __init__(self, facets, values, value=lambda facet, number: number):
        self.facets, self.values, self.value = facets, values, value

    def start(self):
        return "http://h/shop?"

    def fetch(self, url):
        query = dict(part.split("=") for part in url.partition("?")[2].split("&") if part)
        lamps = [lamp for lamp in range(60) if all(self.has(lamp, name, value) for name, value in query.items())]
        links = []
        for facet in range(self.facets):
            name = f"{chr(0x67 + facet)}x"
            for number in range(self.values):
                links.append({**query, name: str(self.value(facet, number))})
            links.append({key: value for key, value in query.items() if key != name})
        found = " ".join(f"lamp{chr(0x67 + lamp // 8)}{chr(0x67 + lamp % 8)}" for lamp in lamps)
        return f"{len(lamps)} lamps: {found}", [self.url(one) for one in links]

    def url(self, query):
        return self.start() + "&".join(sorted(f"{name}={value}" for name, value in query.items()))

    def has(self, lamp, name, value):
        return f"{ord(name[0]) * lamp % 7}" == value


class Prices(Filters):
    """The same, and a range of prices that every page widens and shifts by steps of 5."""

    def fetch(self, url):
        query = dict(part.split("=") for part in url.partition("?")[2].split("&") if part)
        low, high = int(query.get("from", 20)), int(query.get("to", 30))
        text, links = super().fetch(url)
        ranges = [(low - 5, high), (low + 5, high), (low, high - 5), (low, high + 5)]
        return f"{text} from {low} to {high} EUR", links + [self.url({**query, "from": a, "to": b}) for a, b in ranges]

    def has(self, lamp, name, value):
        if name in ("from", "to"):
            return lamp >= int(value) if name == "from" else lamp <= int(value)
        return super().has(lamp, name, value)


class Added(Filters):
    """Filters that are added to those of the page, whether it has them or not."""

    def fetch(self, url):
        added = [part for part in url.partition("?")[2].split("&") if part]
        more = ([*added, f"f={self.value(0, number)}"] for number in range(self.values))
        return "no lamps", [self.start() + "&".join(sorted(one)) for one in more]


def path_text(parts):
    return f"You are here: {' > '.join(parts)}"


def last_name(parts):
    return f"Welcome to {parts[-1] if parts else 'us'}"


def rich_text(parts):
    words = ["fog", "hill", "lion", "mist", "moor", "owl", "wind"]
    return " ".join(random.Random("/".join(parts)).choices(words, k=30))


def word_of(facet, number):
    return f"{chr(0x67 + facet)}{chr(0x67 + number)}w"
