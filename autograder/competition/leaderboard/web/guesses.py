"""Slows down those who guess codes and tokens: wrong ones are counted for each address.

An address may be wrong `BURST` times, and then once every `SECONDS`. Beyond that a code is refused before anybody looks
at it, whether it is right or wrong. A right token is always accepted: nobody guesses one, and other groups at the same
address, such as a lecture hall's, continue to hand in. Behind a proxy on this machine the address is the one that the
proxy names in X-Forwarded-For. Everything is kept in memory.
"""

import contextlib
import math
import threading
import time

from autograder.competition.leaderboard.connections import find_origin
from autograder.competition.leaderboard.rules import RequestRefused

BURST = 30
SECONDS = 6
MOST = 10_000  # addresses that are remembered; beyond them those that were wrong longest ago are forgotten


class Guesses:
    """How often each address may still be wrong."""

    def __init__(self):
        self._lock = threading.Lock()
        self._spent = {}  # origin -> the moment at which it may be wrong BURST times again

    def count_wrong(self, request):
        """Note a wrong code or token. Raises RequestRefused (429) if its address was wrong too often."""
        origin, now = find_origin(request.client.host if request.client else ""), time.monotonic()
        with self._lock:
            whole = max(self._spent.pop(origin, now), now)
            wait = whole + SECONDS - now - BURST * SECONDS
            self._spent[origin] = whole if wait > 0 else whole + SECONDS
            while len(self._spent) > MOST:
                del self._spent[next(iter(self._spent))]
        if wait > 0:
            raise RequestRefused(
                f"too many wrong codes or tokens came from your address: wait {math.ceil(wait)} seconds, then try "
                "again.",
                429,
            )

    @contextlib.contextmanager
    def guessing(self, request):
        """Around the use of a code: it counts as wrong unless the block ends without a refusal for this reason (403).

        It is counted first, so that no number of requests at the same moment is more than one after the other.
        """
        self.count_wrong(request)
        try:
            yield
        except RequestRefused as error:
            if error.status != 403:
                self._forgive(request)
            raise
        self._forgive(request)

    def _forgive(self, request):
        origin = find_origin(request.client.host if request.client else "")
        with self._lock:
            if origin in self._spent:
                self._spent[origin] -= SECONDS
