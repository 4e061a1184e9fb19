"""When a page is fetched again, and what comes first. Begin with `polls` and `news_scores`."""
