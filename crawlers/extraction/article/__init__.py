"""Extracts the article from a news page: its title, text, date, authors, section, language.

Begin with `article_reader`.
"""
