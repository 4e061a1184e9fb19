"""Finds the dates of articles: of their publication, and those that pages show. No function reads the clock."""
