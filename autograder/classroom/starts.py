"""The queue for starting servers: a few start at the same time, in the order in which they were asked for.

A whole class that logs in at once would otherwise keep every core so busy that nobody's server answers in time.
JupyterHub's own limit (`concurrent_spawn_limit`) sends everybody beyond it away with an error. Runs in the Hub's event
loop, and knows nothing of servers.
"""

import asyncio
import contextlib

from course.errors import Problem

SECONDS_TO_WAIT = 1800  # for one's turn
LONGEST_TURN = 60  # seconds after which the next server starts, although this one does not answer


class StartQueue:
    """Gives turns, at most `most` at the same time."""

    def __init__(self, most):
        self.places, self.waiting, self.ends = asyncio.Semaphore(most), [], set()

    @contextlib.asynccontextmanager
    async def turn(self, who, has_started):
        """Wait for the turn of `who` and run the body, which returns soon, in it.

        has_started: an async function; the turn lasts until it returns True, or until the body raises an error. Raises
        Problem if the turn does not come in time.
        """
        self.waiting.append(who)
        try:
            async with asyncio.timeout(SECONDS_TO_WAIT):
                await self.places.acquire()
        except TimeoutError:
            problem = Problem("Too many servers are starting at the moment. Try again in a few minutes.")
            problem.jupyterhub_message = str(problem)  # which the Hub's page shows
            raise problem from None
        finally:
            self.waiting.remove(who)
        try:
            yield
        except BaseException:
            self.places.release()
            raise
        end = asyncio.create_task(self.end_turn(has_started))
        self.ends.add(end)  # the event loop itself keeps no task alive
        end.add_done_callback(self.ends.discard)

    async def end_turn(self, has_started):
        """Give the place to the next."""
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LONGEST_TURN):
                    while not await has_started():
                        await asyncio.sleep(0.2)
        finally:
            self.places.release()

    def count_before(self, who):
        """How many wait for a turn that comes before that of `who`; None if `who` does not wait."""
        return self.waiting.index(who) if who in self.waiting else None
