"""Describes the package to scrapyd-deploy, which builds an egg from it, and to pip.

What is installed stands in requirements*.in alone, and the version in crawlers/__init__.py.
"""

from __future__ import annotations

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).resolve().parent
PACKAGE = HERE / "crawlers"


def version() -> str:
    """The version of the package, read rather than imported: nothing may be installed yet."""
    found = re.search(r'^__version__ = "([^"]+)"$', (PACKAGE / "__init__.py").read_text("utf-8"), re.MULTILINE)
    if found is None:
        raise SystemExit('crawlers/__init__.py: no line __version__ = "…"; add it')
    return found[1]


def requirements(name: str) -> list[str]:
    """The lines of the requirements file *name*, without comments and references to other files."""
    lines = (line.partition("#")[0].strip() for line in (HERE / name).read_text("utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("-")]


def data() -> list[str]:
    """Every file of the package that is no code, so that none has to be listed when it is added."""
    files = (path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc"))
    return sorted(path.relative_to(PACKAGE).as_posix() for path in files)


nodes = requirements("requirements-scrapyd.in")
development = nodes + requirements("requirements-dev.in")

setup(
    name="crawlers",
    version=version(),
    description="Spiders that share one adaptive scheduler, one store and one set of graphs",
    python_requires=">=3.11",
    packages=find_packages(include=["crawlers", "crawlers.*"]),
    package_data={"crawlers": data()},
    install_requires=requirements("requirements.in"),
    extras_require={
        "postgresql": [line for line in nodes if line.startswith("psycopg")],
        "render": [line for line in development if line.startswith("playwright")],
        "dev": development,
    },
    entry_points={
        "scrapy": ["settings = crawlers.settings"],  # how scrapyd finds the settings in an egg
        "console_scripts": ["crawlers = crawlers.__main__:main"],
    },
    zip_safe=False,  # the panel finds its files by their paths; scrapyd reads the egg zipped nevertheless
)
