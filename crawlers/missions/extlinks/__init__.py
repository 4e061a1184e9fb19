"""External links: the reward of a page is what it leads to on other sites."""
