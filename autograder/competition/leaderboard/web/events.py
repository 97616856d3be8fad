"""The stream of events that tells browsers and programs when there is something new to see."""

import asyncio
import contextlib
import json

import sqlalchemy as sql
from starlette.concurrency import run_in_threadpool

TICK = 0.5  # seconds between two looks at the version
KEEP_ALIVE = 15  # seconds between two signs of life in a stream


class Events:
    """Watches the store's version and tells all listeners when it changes, at most every TICK seconds."""

    def __init__(self, store):
        self.store, self.current, self.changed, self.has_ended = store, (0, ""), asyncio.Condition(), False

    async def watch(self):
        """Look at the version again and again: one look for all listeners."""
        while True:
            with contextlib.suppress(sql.exc.SQLAlchemyError):  # the database comes back
                latest = await run_in_threadpool(self.store.visible.read_version)
                if latest != self.current:
                    async with self.changed:
                        self.current = latest
                        self.changed.notify_all()
            await asyncio.sleep(TICK)

    async def end(self):
        """End all streams."""
        async with self.changed:
            self.has_ended = True
            self.changed.notify_all()

    async def stream(self):
        """Yield the text for one listener: the version now, and each later one."""
        sent = None
        while not self.has_ended:
            if self.current != sent:
                sent = self.current
                yield f"event: standing\ndata: {json.dumps({'version': sent[0]})}\n\n"
            else:
                yield ": still here\n\n"
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(KEEP_ALIVE), self.changed:
                    await self.changed.wait_for(lambda sent=sent: self.has_ended or self.current != sent)
