"""Answers that wait: none is lost in silence, none is sent out of turn, and no thread dies unseen."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from vambrace.client.outbox import BATCH, Answer, Outbox
from vambrace.errors import ServiceAway, ServiceRefused


class Post:
    """Takes answers; while `is_away`, or after `refusal` was set, it does not."""

    def __init__(self) -> None:
        self.batches: list[list[Answer]] = []
        self.is_away, self.tries = False, 0
        self.refusal: Exception | None = None

    def send(self, answers: Sequence[Answer]) -> list[str]:
        self.tries += 1
        if self.is_away:
            time.sleep(0.01)
            raise ServiceAway("away")
        if self.refusal is not None:
            raise self.refusal
        self.batches.append(list(answers))
        return ["applied"] * len(answers)

    @property
    def received(self) -> list[Answer]:
        return [answer for batch in self.batches for answer in batch]


ANSWERS = [(f"0-{at}", 1.0) for at in range(1_200)]


def test_answers_go_in_order_many_at_a_time() -> None:
    post = Post()
    outbox = Outbox(post.send, most=10_000)
    for answer in ANSWERS:
        outbox.add(answer)
    outbox.flush(10.0)
    assert post.received == ANSWERS
    assert max(map(len, post.batches)) <= BATCH
    assert len(post.batches) < 30
    assert (outbox.waiting, outbox.outcomes["applied"]) == (0, 1_200)
    assert outbox.close(1.0) == []


def test_they_are_sent_without_being_asked() -> None:
    post = Post()
    outbox = Outbox(post.send, most=10)
    outbox.add(("0-1", 1.0))
    while outbox.waiting:
        time.sleep(0.001)
    assert post.received == [("0-1", 1.0)]
    outbox.close(1.0)


def test_what_is_not_acknowledged_waits_and_arrives_when_the_service_is_back() -> None:
    post = Post()
    post.is_away = True
    outbox = Outbox(post.send, most=10_000)
    for answer in ANSWERS[:20]:
        outbox.add(answer)
    with pytest.raises(ServiceAway, match=r"^flush: 20 answers are not sent after 0.1 seconds$"):
        outbox.flush(0.1)
    assert outbox.waiting == 20
    post.is_away = False
    outbox.flush(10.0)
    assert post.received == ANSWERS[:20]
    outbox.close(1.0)


def test_a_full_list_takes_no_more_and_says_so() -> None:
    post = Post()
    post.is_away = True
    outbox = Outbox(post.send, most=3)
    for answer in ANSWERS[:3]:
        outbox.add(answer)
    with pytest.raises(ServiceAway, match=r"at most 3 unsent answers, got one more, which was not taken$"):
        outbox.add(ANSWERS[3])
    assert outbox.close(0.05) == ANSWERS[:3]


def test_close_hands_back_what_is_left_and_the_thread_ends() -> None:
    before = threading.active_count()
    post = Post()
    post.is_away = True
    outbox = Outbox(post.send, most=100)
    for answer in ANSWERS[:5]:
        outbox.add(answer)
    assert outbox.close(0.05) == ANSWERS[:5]
    assert outbox.close(0.05) == []
    post.is_away = False
    outbox.add(ANSWERS[5])  # it may be used again
    outbox.flush(10.0)
    assert post.received == [ANSWERS[5]]
    assert outbox.close(1.0) == []
    while threading.active_count() > before:
        time.sleep(0.001)


@pytest.mark.parametrize("refusal", [ServiceRefused("no role", status=403), KeyError("our own mistake")])
def test_a_refusal_is_said_at_the_next_call_and_nothing_is_thrown_away(refusal: Exception) -> None:
    post = Post()
    post.refusal = refusal
    outbox = Outbox(post.send, most=100)
    outbox.add(ANSWERS[0])
    with pytest.raises(ServiceRefused, match=r"; 1 answers are not sent$"):
        outbox.flush(10.0)
    with pytest.raises(ServiceRefused):
        outbox.add(ANSWERS[1])
    assert post.tries == 1, "what was refused is not repeated in a loop"
    post.refusal = None
    outbox.flush(10.0)
    assert post.received == ANSWERS[:1]
    outbox.close(1.0)


def test_threads_may_share_it() -> None:
    post = Post()
    outbox = Outbox(post.send, most=10_000)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(outbox.add, ANSWERS))
    outbox.flush(10.0)
    assert sorted(post.received) == sorted(ANSWERS)
    outbox.close(1.0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_copy_of_the_process_does_not_send_what_the_first_one_has() -> None:
    post = Post()
    post.is_away = True
    outbox = Outbox(post.send, most=100)
    outbox.add(ANSWERS[0])
    if (child := os.fork()) == 0:  # pragma: no cover
        post.is_away = False
        outbox.add(ANSWERS[1])
        outbox.flush(10.0)
        os._exit(0 if (outbox.waiting, post.received) == (0, ANSWERS[1:2]) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert outbox.close(0.05) == ANSWERS[:1]


def test_a_program_that_ends_sends_what_waits_or_warns() -> None:
    program = """
import sys, time
from vambrace.client import outbox
from vambrace.errors import ServiceAway
outbox.AT_EXIT, outbox.GATHER = 0.3, 60.0
def send(answers):
    if sys.argv[1] == "away":
        time.sleep(0.01)
        raise ServiceAway("away")
    print(*answers)
    return ["applied"] * len(answers)
box = outbox.Outbox(send, 10)
box.add(("0-1", 1.0))
box.add(("0-2", 0.0))
"""
    done = [
        subprocess.run([sys.executable, "-c", program, how], capture_output=True, text=True, timeout=60)
        for how in ("here", "away")
    ]
    assert (done[0].stdout, done[0].stderr) == ("('0-1', 1.0) ('0-2', 0.0)\n", "")
    assert (done[1].stdout, done[1].stderr) == ("", "2 answers were not sent when the program ended\n")
