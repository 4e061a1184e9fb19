"""The supervisor of several workers: whom it starts and replaces, what it shows, and how it ends. No process is started
here; see test_child_process.py and tests/integration for real ones."""

import logging
import signal
import threading
from queue import Empty

import pytest

from crawlers.cli.child_process import Events, Exit, Line, Signal, StoreView
from crawlers.cli.worker_processes import MAX_DEATHS, MAX_HELD_CHARACTERS, STORE_FAILED, WorkerProcesses
from crawlers.workers.worker_table import Course, ProcessRow
from tests.support.processes import PATIENCE_S

CRAWL = 7
ENDED = Course(goes_on=False, is_running=False)


class Process:
    def __init__(self, group, place, pid):
        self.pid, self.place, self._group = pid, place, group
        self.is_stopped = self.is_killed = False

    def stop(self):
        self.is_stopped = True
        self._group.on_stop(self)

    def kill(self):
        self.is_killed = True
        self._group.end(self, -signal.SIGKILL)

    def send(self, number):
        raise AssertionError


class Group:
    """A supervisor whose workers do what a test says; it is store and display at once."""

    def __init__(self, number, on_start, on_look=lambda group, look: None, on_stop=lambda process: None):
        self.events = Events(10_000)
        self.started = []  # all processes, in order
        self.ended = set()  # those that have ended
        self.crawls = []  # that they were told to join
        self.lines, self.outputs, self.errors = [], [], []
        self.joined = {}
        self.course = Course()
        self.looks = 0
        self.on_stop = on_stop
        self._on_start, self._on_look = on_start, on_look
        self._workers = WorkerProcesses(number, self._start, self, self, self.events, 0.0)

    def run(self):
        return self._workers.run()

    def _start(self, place, crawl_id):
        process = Process(self, place, 100 + len(self.started))
        self.started.append(process)
        self.crawls.append(crawl_id)
        self._on_start(self, process)
        return process

    def join(self, process, pages=0):
        self.joined[process.pid] = ProcessRow(process.pid - 90, CRAWL, pages)

    def end(self, process, status=0):
        if process not in self.ended:
            self.ended.add(process)
            self.events.put(Exit(process.place, status))

    @property
    def places(self):
        return [process.place for process in self.started]

    def look(self, processes, crawl_id):
        seen = {pid: seen for pid, seen in self.joined.items() if pid in processes}
        self.events.put(StoreView(seen, self.course))
        if crawl_id is not None:
            assert crawl_id == CRAWL
            self.looks += 1
            self._on_look(self, self.looks)

    def write(self, line, *, is_output):
        (self.outputs if is_output else self.lines).append(line)

    def fail(self, message):
        self.errors.append(message)


def end_all(group, look):
    if look == 1:
        for process in group.started:
            group.end(process)


def join(group, process):
    group.join(process, pages=1)


def ask_first(number):
    """Return what asks the command to end when it looks for the first time."""
    return lambda group, look: look == 1 and group.events.put(Signal(number))


def test_crawl_that_ends_at_once_needs_no_others():
    group = Group(4, lambda group, process: group.end(process))
    assert (group.run(), group.places) == (0, [1])


@pytest.mark.parametrize(
    ("statuses", "worst"), [((0, 0, 0), 0), ((0, 3, 0), 3), ((0, 3, 2), 2), ((2, 0, 3), 2), ((3, 3, 3), 3)]
)
def test_exit_status_is_the_worst_of_the_workers(statuses, worst):
    def end(group, look):
        if look == 1:
            for process, status in zip(group.started, statuses, strict=True):
                group.end(process, status)

    assert Group(3, join, end).run() == worst


@pytest.mark.parametrize(
    ("status", "how"),
    [(-9, "was ended by SIGKILL"), (1, "ended with status 1"), (-70, "was ended by signal 70"), (120, "status 120")],
)
def test_worker_that_dies_is_replaced_with_one_warning(status, how, caplog):
    def die(group, look):
        if look == 1:
            group.end(group.started[1], status)
        elif len(group.started) == 3 and look > 2:
            end_all(group, 1)

    group = Group(2, join, die)
    group.events.put(Line(1, "a"))
    assert (group.run(), group.places) == (0, [1, 2, 2])
    assert group.crawls[-1] == CRAWL
    (warning,) = (record.getMessage() for record in caplog.records if record.levelno == logging.WARNING)
    assert warning.startswith("Worker 11 (process 101) ")
    assert how in warning


def test_worker_whose_store_failed_is_not_replaced():
    def fail(group, look):
        if look == 1:
            group.end(group.started[1], STORE_FAILED)
        elif look == 2:
            group.end(group.started[0], STORE_FAILED)

    group = Group(2, join, fail)
    assert (group.run(), group.places) == (1, [1, 2])


def test_worker_that_dies_again_and_again_without_a_page_ends_the_command():
    def die(group, process):
        group.join(process)
        if process.place == 2:
            group.end(process, -signal.SIGSEGV)

    group = Group(3, die, on_stop=lambda process: group.end(process))
    assert group.run() == 1
    assert group.places.count(2) == MAX_DEATHS
    (error,) = group.errors
    assert "was ended by SIGSEGV, like 4 workers before it that read no page either" in error


@pytest.mark.parametrize("end_of_last", [0, -signal.SIGKILL])
def test_one_more_worker_ends_a_crawl_whose_last_one_was_lost_while_it_was_stopping(end_of_last, caplog):
    """The other one left before the server noticed that this one had died."""
    caplog.set_level(logging.INFO)
    group = Group(2, join, ask_first(signal.SIGTERM))
    group.on_stop = lambda process: group.end(process, {100: 0, 101: -signal.SIGKILL}.get(process.pid, end_of_last))
    assert (group.run(), group.places) == (1, [1, 2, 1])
    assert group.crawls[-1] == CRAWL
    assert all(process.is_stopped for process in group.started)
    assert "one more is started to write them" in caplog.text


def test_nobody_is_started_to_end_a_crawl_that_was_ended_at_once():
    def ask(group, look):
        if look == 1:
            group.events.put(Signal(signal.SIGTERM))
            group.end(group.started[1], -signal.SIGKILL)
        elif look == 3:
            group.events.put(Signal(signal.SIGTERM))

    group = Group(2, join, ask)
    assert (group.run(), group.places) == (1, [1, 2])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_stops_all_workers_and_the_command_waits_for_them(number, caplog):
    caplog.set_level(logging.INFO)
    group = Group(3, join, ask_first(number), on_stop=lambda process: group.end(process))
    assert group.run() == 0
    assert all(process.is_stopped and not process.is_killed for process in group.started)
    assert f"Received {number.name}; stopping 3 workers gracefully" in caplog.text


def test_nobody_is_started_after_a_signal():
    def start(group, process):
        group.events.put(Signal(signal.SIGINT))
        group.join(process)

    group = Group(4, start, on_stop=lambda process: group.end(process))
    assert (group.run(), group.places) == (0, [1])


def test_lines_have_the_number_of_their_worker_as_soon_as_it_is_known():
    def start(group, process):
        group.events.put(Line(process.place, f"begins {process.place}"))
        group.join(process)

    def later(group, look):
        if look == 2:
            for process in group.started:
                group.events.put(Line(process.place, f"reads {process.place}"))
                group.events.put(Line(process.place, '{"json": 1}'))
                group.events.put(Line(process.place, "an item", is_output=True))
                group.end(process)

    group = Group(2, start, later)
    assert group.run() == 0
    assert group.lines == ["begins 1", "[11] begins 2", "[10] reads 1", '{"json": 1}', "[11] reads 2", '{"json": 1}']
    assert group.outputs == ["an item", "an item"]


def test_worker_that_has_not_joined_when_the_crawl_ends_is_ended_silently(caplog):
    def start(group, process):
        group.events.put(Line(process.place, f"line of {process.place}"))
        if process.place < 3:
            group.join(process)

    def end(group, look):
        if look == 3:
            group.course = ENDED
            group.end(group.started[0])
            group.end(group.started[1], 3)

    group = Group(3, start, end)
    assert group.run() == 3
    assert [process.is_killed for process in group.started] == [False, False, True]
    assert group.lines == ["line of 1", "[11] line of 2"]
    assert not caplog.records


def test_characters_of_held_lines_are_bounded():
    def start(group, process):
        if process.place == 1:
            group.join(process)
        else:
            for _ in range(3):
                group.events.put(Line(2, "x" * (MAX_HELD_CHARACTERS // 2)))

    group = Group(2, start, lambda group, look: group.lines and end_all(group, 1))
    assert group.run() == 0
    assert len(group.lines) == 3


def test_worker_that_writes_more_than_is_shown_has_to_wait():
    events, is_full = Events(2), threading.Event()

    def write():
        for number in range(3):
            if number == 2:
                is_full.set()
            events.put(Line(1, str(number)))
        events.put(Exit(1, 0))

    worker = threading.Thread(target=write)
    worker.start()
    assert is_full.wait(PATIENCE_S)
    events.put(Signal(signal.SIGINT))  # a signal does not wait
    found = [events.get(0.0) for _ in range(3)]
    assert found == [Line(1, "0"), Line(1, "1"), Signal(signal.SIGINT)]
    worker.join(PATIENCE_S)
    assert [events.get(0.0), events.get(0.0)] == [Line(1, "2"), Exit(1, 0)]
    with pytest.raises(Empty):
        events.get(0.0)


class SilentGroup(Group):
    """Workers of a store that does not respond: no look ever returns."""

    def look(self, processes, crawl_id):
        self.looks += 1
        self._on_look(self, self.looks)


def test_signals_are_obeyed_although_the_store_does_not_respond():
    group = SilentGroup(3, lambda group, process: None, lambda group, look: group.events.put(Signal(signal.SIGINT)))
    group.on_stop = lambda process: group.events.put(Signal(signal.SIGINT))
    assert (group.run(), group.looks) == (1, 1)
    assert [(process.is_stopped, process.is_killed) for process in group.started] == [(True, True)]


def test_second_signal_ends_the_command_although_it_is_not_known_how_a_worker_ended():
    def end(group, look):
        group.end(group.started[0], 2)
        for _ in range(2):
            group.events.put(Signal(signal.SIGINT))

    assert SilentGroup(1, lambda group, process: None, end).run() == 1


@pytest.mark.parametrize("ends_first", [True, False])
def test_worker_that_ends_when_the_store_has_failed_needs_no_further_look(ends_first):
    class FailingGroup(Group):
        def look(self, processes, crawl_id):
            self.looks += 1
            results = [StoreView({}, has_failed=True), Exit(1, 2)]
            for result in reversed(results) if ends_first else results:  # after the look began
                self.events.put(result)

    group = FailingGroup(2, lambda group, process: None)
    group._workers._interval_s = PATIENCE_S
    assert (group.run(), group.looks) == (2, 1)


def test_worker_that_dies_when_the_store_has_failed_is_judged_by_what_was_seen_before(caplog):
    class FailingGroup(Group):
        def look(self, processes, crawl_id):
            """Show each process once; then it dies, and the store fails."""
            process = self.started[-1]
            if process.pid not in shown:
                shown.append(process.pid)
                super().look(processes, crawl_id)
            else:
                self.end(process, -signal.SIGKILL if len(shown) < 2 * MAX_DEATHS else 0)
                self.events.put(StoreView({}, has_failed=True))

    shown = []
    group = FailingGroup(1, join)
    assert group.run() == 0
    assert not group.errors
    assert shown == list(range(100, 100 + 2 * MAX_DEATHS))
    assert "Worker 10 (process 100) was ended by SIGKILL; another one takes its place" in caplog.text
    assert "Worker 15 (process 105) was ended by SIGKILL; another one takes its place" in caplog.text
