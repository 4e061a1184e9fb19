"""Politeness towards one host, on a clock of its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.frontier.politeness import FIRST_DELAY_S, MAX_DELAY_S, MAX_REST_S, HostGate


def test_request_for_robots_txt_counts_with_the_delay_that_it_names():
    gate = HostGate(1, 0.0)
    gate.record_start(10.0)
    gate.record_end()
    gate.ask_for_delay(5.0)
    gate.record_request(11.0)
    assert gate.next_at == 16.0


@pytest.mark.parametrize(
    ("until", "next_at"), [(float("-inf"), 101.0), (90.0, 101.0), (130.0, 130.0), (1e9, 100.0 + MAX_REST_S)]
)
def test_delay_and_rest_hold_over_a_restart_but_not_longer_than_any_rest(until, next_at):
    gate = HostGate(9, 2.0)
    gate.resume(99.0, until, 100.0)
    assert gate.next_at == next_at


def test_longer_requested_delay_applies_and_a_shorter_one_does_not():
    gate = HostGate(1, 2.0)
    gate.ask_for_delay(1.0)
    assert gate.delay_s == 2.0
    gate.ask_for_delay(5.0)
    assert gate.delay_s == 5.0


def test_cancelled_start_refunds_neither_the_delay_after_a_later_one_nor_a_rest():
    gate = HostGate(3, 2.0)
    gate.record_start(0.0)
    gate.record_start(2.0)
    gate.cancel_start(0.0)
    assert gate.next_at == 4.0
    gate.back_off(3.0, 60.0)
    gate.cancel_start(2.0)
    assert (gate.next_at, gate.in_flight) == (63.0, 0)


def test_rest_doubles_with_each_refusal_and_is_reset_by_a_good_response():
    gate = HostGate(1, 0.0)
    now = 0.0
    rests = []
    for _ in range(11):
        rests.append(gate.back_off(now, None) - now)
        now = gate.resting_until
    assert rests == [1.0, 2.0, 4.0, 8.0, *rests[4:10], MAX_REST_S]
    gate.relax()
    assert gate.back_off(now, None) == now + 1.0
    assert HostGate(1, 0.0).back_off(now, 86400.0) == now + MAX_REST_S, "what a host asks is limited, too"


def test_refusals_of_requests_in_flight_do_not_prolong_the_rest():
    gate = HostGate(9, 0.0)
    assert gate.back_off(0.0, None) == 1.0
    delay_s = gate.delay_s
    for _ in range(8):
        assert gate.back_off(0.5, None) == 1.0
    assert gate.delay_s == delay_s
    assert gate.back_off(0.5, 9.0) == 9.5, "unless they ask for more"


def test_refusing_host_gets_slower_requests_for_a_while():
    gate = HostGate(1, 0.0)
    gate.back_off(0.0, None)
    assert gate.delay_s == FIRST_DELAY_S
    for _ in range(6):
        gate.relax()
    assert FIRST_DELAY_S / 2 < gate.delay_s < FIRST_DELAY_S
    gate.relax()
    assert FIRST_DELAY_S * 0.47 < gate.delay_s < FIRST_DELAY_S / 2
    gate = HostGate(1, 0.0)
    gate.back_off(0.0, None)
    gate.back_off(2.0, None)
    assert gate.delay_s == 2 * FIRST_DELAY_S
    for _ in range(300):
        gate.relax()
    assert gate.delay_s == 0.0


@pytest.mark.parametrize("asked_s", [0.0, 1.0, 60.0])
def test_delay_stays_between_the_requested_and_the_longest(asked_s):
    gate = HostGate(1, 0.0)
    gate.ask_for_delay(asked_s)
    for number in range(20):
        gate.back_off(number * 1000.0, None)
    assert gate.delay_s == max(MAX_DELAY_S, asked_s)
    for _ in range(1000):
        gate.relax()
        assert gate.delay_s >= asked_s
    assert gate.delay_s == asked_s


@given(
    st.floats(0.0, 5.0), st.lists(st.tuples(st.floats(0.0, 10.0), st.sampled_from(["good", "refused", "cancelled"])))
)
def test_starts_are_never_closer_than_the_delay_of_that_time(delay_s, steps):
    gate = HostGate(1, delay_s)
    now, last = 0.0, float("-inf")
    for wait_s, step in steps:
        now = max(now + wait_s, gate.next_at)
        assert now - last >= delay_s - 1e-9
        before = gate.next_at
        gate.record_start(now)
        if step == "cancelled":
            gate.cancel_start(now)
            assert gate.next_at == before
            continue
        last = now
        gate.record_end()
        if step == "good":
            gate.relax()
        else:
            assert gate.back_off(now, None) > now


def test_further_requests_of_a_lease_keep_the_delay():
    gate = HostGate(1, 2.0)
    gate.record_start(10.0)
    assert [gate.schedule_request(at) for at in (10.5, 10.5, 30.0)] == [12.0, 14.0, 30.0]
    assert (gate.next_at, gate.in_flight) == (32.0, 1)


def test_gate_knows_when_the_last_request_was_sent():
    gate = HostGate(9, 2.0)
    assert gate.asked_at == float("-inf")
    gate.resume(3.0, float("-inf"), 9.0)
    assert gate.asked_at == 3.0
    gate.record_start(10.0)
    gate.record_start(12.0)
    gate.cancel_start(12.0)
    assert gate.asked_at == 10.0, "the other one was not sent"
    gate.record_request(11.0)
    assert gate.asked_at == 11.0, "robots.txt"
    gate.record_start(13.0)
    assert gate.schedule_request(14.0) == gate.asked_at == 15.0
    gate.cancel_start(13.0)
    gate.record_end()
    assert gate.asked_at == 15.0
