"""Names and addresses of an imaginary internet, for a command that is started with `before=`."""

import socket
from functools import partial

from crawlers.urls import addresses


def imaginary(names, *public):
    """Return a function after which *names* resolve to their addresses, others to none, and *public* ones are public.

    So a server on loopback can play a public one.
    """
    return partial(_install, dict(names), public)


def _install(names, public):
    network_of = addresses.network_of

    def get_host_by_name(name):
        if name in names:
            return names[name]
        socket.inet_aton(name if name[0].isdigit() else "?")  # forms of addresses that C's resolver knows
        return name

    def resolve(name):
        try:
            return get_host_by_name(name)
        except OSError as error:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known") from error

    addresses.network_of = lambda address: None if address in public else network_of(address)
    socket.gethostbyname = resolve
