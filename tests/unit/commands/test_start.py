"""Commands start quickly: libraries that are slow to import and rarely needed are imported when they are used."""

import subprocess
import sys

SLOW = ("htmldate", "jinja2", "matplotlib", "networkx", "pyarrow", "rich", "scipy", "starlette")
OF_CRAWLS = ("can_ada", "feedparser", "numpy", "re2", "selectolax", "snowballstemmer", "sqlalchemy", "yaml")
START = f"""
import sys
from scrapy.settings import Settings
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.misc import load_object, walk_modules_iter
settings = Settings()
settings.setmodule("crawlers.settings")
list(walk_modules_iter(settings["COMMANDS_MODULE"]))
first, *others = get_spider_loader(settings).list()
assert get_spider_loader(settings).load(first).name == first
assert not {{f"crawlers.spiders.{{name}}" for name in others}} & {{*sys.modules}}
print(*[name for name in {OF_CRAWLS} if name in sys.modules])
for name in ("ADDONS", "DOWNLOADER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES", "SPIDER_MIDDLEWARES"):
    for path in settings.getdict(name):
        load_object(path)
load_object(settings["SCHEDULER"])
print(*[name for name in {SLOW} if name in sys.modules])
"""


def test_slow_libraries_are_not_imported_at_the_start():
    started = subprocess.run([sys.executable, "-c", START], check=True, capture_output=True, text=True, timeout=60)
    assert started.stdout == "\n\n"


HELP = """
import sys
from scrapy.cmdline import execute
sys.argv = ["scrapy", "graph", "--help"]
try:
    execute()
finally:
    print(*sorted(name for name in sys.modules if name.startswith("crawlers.commands.")))
"""


def test_a_command_imports_none_of_the_others():
    started = subprocess.run([sys.executable, "-c", HELP], check=True, capture_output=True, text=True, timeout=60)
    assert started.stdout.splitlines()[-1] == "crawlers.commands.graph"
