"""The board at the deadline: 200 groups hand in within a minute while 200 pages and a browser watch; then it is killed.

On SQLite and on a PostgreSQL started for this, twice each: as it is, and with the server killed by SIGKILL at random
moments and started again. Each group may hand in 3 times a day. It does so once, and then with three requests at once,
one more than are left; the nearer the end, the more groups do. Whoever gets no answer sends the same again, with the
same key. All that comes from a process of its own, prepared before, each request on a connection of its own. The maps
are real and no two alike. `lost`: acknowledged, and in the end not there or not as it was sent; `doubled`: there twice;
`overruns`: groups with more than 3; `behind`: pages that were not told of the last entry; `left`: processes that
outlived the server; `shown`: groups on the browser's wall, which nobody loaded again. Times are those of all answers,
refusals too.
"""

import asyncio
import collections
import contextlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from autograder.testing.board_process import CODE, BoardProcess
from autograder.testing.browser import CHROMIUM, FLAGS
from autograder.testing.entry_notebooks import make_entry_notebook
from autograder.testing.maps import make_nearest_mean_map, to_npy
from autograder.testing.postgres import start_postgresql
from course.competition import scene
from course.errors import Problem

GROUPS, WATCHERS, SECONDS, KILLS, SEED = 200, 200, 60, 3, 7
PER_DAY = 3
MEDIAN, P99 = 100, 1000  # milliseconds
PATIENCE = 120  # seconds until a server that does not answer counts as failed
TOLD = 30  # seconds until all pages must know of the last entry
SCORED = 600  # seconds until the wall must show every group


def rows():
    """A row a database and way: undisturbed, and killed."""
    for kills in (0, KILLS):
        yield crowd("SQLite", kills=kills)
    with start_postgresql() as url:
        for kills in (0, KILLS):
            yield crowd("PostgreSQL", url(), kills=kills)


def summary(rows):
    """Is nothing lost, doubled or too much, and were answers fast while nobody killed the server?"""
    calm = [row for row in rows if not row["kills"]]
    sums = {name: sum(row[name] for row in rows) for name in ("accepted", "lost", "doubled", "overruns", "behind")}
    slowest = {name: max(row[name] for row in calm) for name in ("median_ms", "p99_ms")}
    return {
        **sums,
        **slowest,
        "met": sums["accepted"] == len(rows) * GROUPS * PER_DAY
        and not any(sums[name] for name in sums if name != "accepted")
        and all(row["shown"] == GROUPS for row in rows)
        and slowest["median_ms"] < MEDIAN
        and slowest["p99_ms"] < P99,
        "cores": len(os.sched_getaffinity(0)),
    }


def crowd(database, url=None, groups=GROUPS, watchers=WATCHERS, seconds=SECONDS, kills=0, browser=True):
    """A row: one board in a folder of its own, at `url` where given, with all who hand in and watch."""
    with tempfile.TemporaryDirectory(prefix="board-") as folder, BoardProcess(Path(folder), url, PER_DAY) as server:
        settings = {"port": server.port, "groups": groups, "watchers": watchers, "seconds": seconds}
        with clients(settings) as process, wall(server.port) if browser else contextlib.nullcontext() as page:
            if process.stdout.readline() != "ready\n":
                raise Problem("those who hand in could not be made ready: see above.")
            load = os.getloadavg()[0]
            process.stdin.write("go\n")
            process.stdin.flush()
            start = time.monotonic()
            rng = random.Random(SEED)
            for moment in sorted(rng.uniform(0.2, 0.9) * seconds for _ in range(kills)):
                server.kill_at(start + moment)
            found = json.loads(process.stdout.readline())
            shown = names_on(page, groups) if browser else None
        row = {"database": database, "kills": kills, "groups": groups} | checked(server, found) | {"shown": shown}
        left = server.end()
    return row | {"left": len(left), "load_before": round(load, 1)}


def checked(server, found):
    """What `found`, the clients' word on what they sent and were told, and the board say together."""
    import httpx

    lost, doubled, overruns = 0, 0, 0
    with httpx.Client(base_url=server.url, trust_env=False, timeout=PATIENCE) as http:
        token = {"Authorization": f"Bearer {server.instructor()}"}
        for group in found["groups"]:
            history = http.get("/api/entries", headers={"Authorization": f"Bearer {group['token']}"}).json()["entries"]
            sent = {mark_of(http.get(f"/api/entries/{entry['id']}/notebook", headers=token)) for entry in history}
            there = {entry["id"] for entry in history}
            lost += sum(entry not in there or mark not in sent for mark, entry in group["acknowledged"].items())
            doubled += len(history) - len(sent)
            overruns += len(history) > PER_DAY
    times = sorted(found["times"])
    return {
        "accepted": sum(len(group["acknowledged"]) for group in found["groups"]),
        "refused": found["refused"],
        "lost": lost,
        "doubled": doubled,
        "overruns": overruns,
        "repeated": found["repeated"],
        "median_ms": round(1000 * statistics.median(times), 1),
        "p99_ms": round(1000 * times[int(0.99 * (len(times) - 1))], 1),
        "slowest_ms": round(1000 * times[-1], 1),
        "events": found["events"],
        "behind": found["behind"],
        "seconds": round(found["seconds"], 1),
    }


def mark_of(reply):
    """By what a notebook is known."""
    return reply.json()["metadata"]["mark"]


@contextlib.contextmanager
def wall(port):
    """The board's first page in a real browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1920, "height": 1080})
        page.goto(f"http://127.0.0.1:{port}/")
        yield page
        browser.close()


def names_on(page, groups):
    """How many groups the page, which nobody loads again, shows in the end."""
    from playwright.sync_api import TimeoutError

    count = "document.querySelectorAll('#choose-group option').length"
    with contextlib.suppress(TimeoutError):
        page.wait_for_function(f"groups => {count} === groups", arg=groups, timeout=1000 * SCORED)
    return page.evaluate(count)


# -- those who hand in and watch: another process


@contextlib.contextmanager
def clients(settings):
    """The process of all clients, to which "go" is said once it says "ready"; its last line is what it found."""
    with subprocess.Popen(
        [sys.executable, "-m", __name__, json.dumps(settings)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


class Clients:
    """Groups that hand in and pages that watch, at the board on a port of this machine."""

    def __init__(self, port, groups, watchers, seconds):
        self.port, self.watchers, self.seconds = port, watchers, seconds
        self.rng = random.Random(SEED)
        self.groups = [{"name": f"Group {number:03}", "acknowledged": {}} for number in range(groups)]
        self.times, self.told = [], [0] * watchers
        self.count = collections.Counter()

    async def run(self):
        """Make ready, wait for the word, hand in and watch; prints what was found as JSON."""
        import httpx

        limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)  # a connection for each request
        url = f"http://127.0.0.1:{self.port}"
        async with httpx.AsyncClient(base_url=url, trust_env=False, limits=limits, timeout=PATIENCE) as self.http:
            requests = [await self.join(group) for group in self.groups]
            print("ready", flush=True)
            await asyncio.to_thread(sys.stdin.readline)
            start = time.monotonic()
            watching = [asyncio.create_task(self.watch(number)) for number in range(self.watchers)]
            await asyncio.gather(*map(self.hand_in, self.groups, requests))
            seconds = time.monotonic() - start
            last = (await self.http.get("/api/standing")).json()["version"]
            end = time.monotonic() + TOLD
            while min(self.told, default=last) < last and time.monotonic() < end:
                await asyncio.sleep(0.1)
            for task in watching:
                task.cancel()
        behind = sum(version < last for version in self.told)
        found = {"groups": self.groups, "times": self.times, "seconds": seconds, "behind": behind}
        print(json.dumps({"events": 0, "repeated": 0, "refused": 0} | self.count | found), flush=True)

    async def join(self, group):
        """Let a group join, and prepare one request more than it may send."""
        reply = await self.http.post("/api/groups", json={"name": group["name"], "code": CODE})
        group["token"] = reply.raise_for_status().json()["token"]
        notebook, requests = make_entry_notebook("nearest_mean"), []
        for number in range(PER_DAY + 1):
            mark = notebook.metadata["mark"] = f"{group['name']}, {number}"
            rng = np.random.default_rng([SEED, int(group["name"][-3:]), number])
            files = {split: (f"{split}.npy", to_npy(make_nearest_mean_map(split, rng))) for split in scene.SPLITS}
            files["notebook"] = ("09-competition.ipynb", json.dumps(notebook).encode())
            headers = {"Authorization": f"Bearer {group['token']}", "Idempotency-Key": mark.replace(" ", "-")}
            request = self.http.build_request("POST", "/api/entries", files=files, headers=headers)
            await request.aread()
            requests.append((mark, request))
        return requests

    async def hand_in(self, group, requests):
        """One entry, and later the others at once; the nearer the end, the more groups do."""
        start = time.monotonic()
        first, later = sorted(self.seconds * self.rng.random() ** 0.5 for _ in range(2))
        await asyncio.sleep(first)
        one = asyncio.create_task(self.send(group, *requests[0]))
        await asyncio.sleep(start + later - time.monotonic())
        await asyncio.gather(one, *(self.send(group, *each) for each in requests[1:]))

    async def send(self, group, mark, request):
        """Send until there is an answer."""
        import httpx

        while True:
            start = time.monotonic()
            try:
                reply = await self.http.send(request)
            except httpx.TransportError:
                self.count["repeated"] += 1
                await asyncio.sleep(self.rng.uniform(0.2, 1))
                continue
            self.times.append(time.monotonic() - start)
            if reply.status_code in (200, 201):
                group["acknowledged"][mark] = reply.json()["id"]
            else:
                assert reply.status_code == 429, reply.text
                self.count["refused"] += 1
            return

    async def watch(self, number):
        """Listen to the stream of events, again whenever it ends."""
        while True:
            with contextlib.suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.write(b"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                async for line in reader:
                    if line.startswith(b"data:"):
                        self.told[number] = json.loads(line[5:])["version"]
                        self.count["events"] += 1
                writer.close()
            await asyncio.sleep(self.rng.uniform(0.2, 1))


if __name__ == "__main__":
    asyncio.run(Clients(**json.loads(sys.argv[1])).run())
