"""The queue for starting servers: order, places, and turns that do not end by themselves."""

import asyncio
import types

import pytest

from autograder.classroom import starts
from autograder.classroom.spawner import ClassSpawner
from autograder.classroom.starts import StartQueue
from course.errors import Problem


async def yes():
    return True


async def no():
    return False


def test_a_few_start_at_the_same_time_and_in_the_order_in_which_they_asked():
    async def run():
        queue, begun, ready = StartQueue(2), [], set()

        async def start(name):
            async def has_started():
                return name in ready

            async with queue.turn(name, has_started):
                begun.append(name)

        tasks = [asyncio.create_task(start(name)) for name in "abcde"]
        await asyncio.sleep(0)
        seen = [list(begun)]
        assert [queue.count_before(name) for name in "abcde"] == [None, None, 0, 1, 2]
        for name in "bac":
            ready.add(name)
            while len(begun) == len(seen[-1]):
                await asyncio.sleep(0.01)
            seen.append(list(begun))
        await asyncio.gather(*tasks)
        return seen

    assert asyncio.run(run()) == [list("ab"), list("abc"), list("abcd"), list("abcde")]


def test_a_start_that_fails_gives_its_place_to_the_next():
    async def run():
        queue = StartQueue(1)
        for _ in range(3):
            with pytest.raises(OSError, match="no room"):
                async with queue.turn("ada", no):
                    raise OSError("no room")
        async with asyncio.timeout(5), queue.turn("bob", yes):
            return "started"

    assert asyncio.run(run()) == "started"


def test_a_server_that_never_answers_holds_its_place_for_a_bounded_time(monkeypatch):
    monkeypatch.setattr(starts, "LONGEST_TURN", 0.1)

    async def run():
        queue = StartQueue(1)
        async with queue.turn("ada", no):
            pass
        async with asyncio.timeout(5), queue.turn("bob", yes):
            return "started"

    assert asyncio.run(run()) == "started"


def test_who_waits_too_long_is_told_and_who_is_cancelled_leaves_the_queue(monkeypatch):
    async def run():
        queue = StartQueue(1)
        async with queue.turn("ada", no):
            pass
        waiting = asyncio.create_task(queue.turn("bob", yes).__aenter__())
        await asyncio.sleep(0)
        assert queue.count_before("bob") == 0
        waiting.cancel()
        await asyncio.wait([waiting])
        assert queue.count_before("bob") is None
        monkeypatch.setattr(starts, "SECONDS_TO_WAIT", 0.05)
        with pytest.raises(Problem) as caught:
            await queue.turn("eve", yes).__aenter__()
        assert queue.waiting == []
        return caught.value.jupyterhub_message

    assert asyncio.run(run()) == "Too many servers are starting at the moment. Try again in a few minutes."


def test_the_page_says_how_many_servers_start_before():
    async def run():
        queue, said = StartQueue(1), []
        spawner = types.SimpleNamespace(starts=queue)
        queue.waiting += ["ada", "bob", spawner]
        async for event in ClassSpawner.progress(spawner):
            said.append(event["message"])
            del queue.waiting[:1]
        return said

    assert asyncio.run(run()) == [
        "Your server starts after 2 other servers.",
        "Your server starts after 1 other server.",
        "Your server is the next to start.",
        "Your server starts.",
    ]
