"""When a page is fetched again, and what comes first. Begin with `poll_plan` and `news_scores`."""
