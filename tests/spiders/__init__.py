"""Tests of crawlers/spiders."""
