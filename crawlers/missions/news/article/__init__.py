"""Extracts the article from a news page: its title, text, authors, section, language. Begin with `article_reader`."""
