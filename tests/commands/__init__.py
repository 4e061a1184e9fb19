"""Tests of crawlers/commands."""
