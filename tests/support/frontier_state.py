"""What a frontier knows of the pages of its open sites."""


def counts_of(frontier):
    """Return the numbers of pages by site id and state; leased ones count as waiting."""
    return {site.id: {s: n for s, n in site.counts.items() if n} for site in frontier.schedule.sites.values()}


def pending_of(frontier):
    """Return the number of URLs that wait and are not leased."""
    return sum(site.pending for site in frontier.schedule.sites.values())
