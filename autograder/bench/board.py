"""The board at the deadline: 200 groups hand in within a minute while 200 pages and a browser watch; then it is killed.

The database is SQLite, then a PostgreSQL started for this bench, with two runs each. In the second run the server is
killed by SIGKILL at random moments and started again. During each run, another address keeps 2,000 silent connections
open, and entries are verified as they arrive. Each group may hand in three times a day. It hands in once, and later
three times at once, which is one entry too many. The nearer the deadline, the more groups hand in. A client that gets
no answer repeats its request with the same idempotency key. All requests come from a separate process, were prepared
beforehand, and have a connection each. No two of the maps are equal.

The columns of these rows: `lost`, entries that were acknowledged but are not stored as they were sent; `doubled`,
entries stored twice; `overruns`, groups with more than three entries; `behind`, pages that were not told of the last
entry; `left`, processes that outlived the server; `shown`, groups on the wall in the browser, which is never reloaded;
`verifying`, the largest number of entries under verification at once. Response times include those of refusals.
`elsewhere_ms` is the slowest answer to a page request from a third address while the server was alive.

The last row is the final standing of 60 groups, 6 of which hand in code that never ends. Its time starts at the
deadline.
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
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import psutil

from autograder.competition import verifier
from autograder.testing.board_process import CODE, BoardProcess
from autograder.testing.browser import CHROMIUM, FLAGS
from autograder.testing.entry_notebooks import make_entry_notebook
from autograder.testing.final_standing import reach_final_standing
from autograder.testing.maps import make_nearest_mean_map, to_npy
from autograder.testing.postgres import start_postgresql
from autograder.testing.sockets import flood, make_client
from course.competition import scene
from course.errors import Problem

GROUPS, WATCHERS, SECONDS, KILLS, SEED = 200, 200, 60, 3, 7
SILENT = 2000  # connections from one address
FINAL, ENDLESS, MINUTES = 60, 6, 60  # groups at the deadline, those whose code never ends, minutes for all of them
PER_DAY = 3
MEDIAN, P99, ELSEWHERE = 100, 1000, 1000  # milliseconds
PATIENCE = 120  # seconds until a server that does not answer counts as failed
NOTIFIED = 30  # seconds until all pages must know of the last entry
SCORED = 600  # seconds until the wall must show every group


def rows():
    """Yield two rows per database, undisturbed and killed, then the row of the final standing."""
    for kills in (0, KILLS):
        yield measure_board("SQLite", kills=kills)
    with start_postgresql() as url:
        for kills in (0, KILLS):
            yield measure_board("PostgreSQL", url(), kills=kills)
    yield reach_final_standing(FINAL, ENDLESS)


def summary(rows):
    """Whether no entry is lost, stored twice or over the limit, and an undisturbed board answers fast."""
    *rows, final = rows
    calm = [row for row in rows if not row["kills"]]
    sums = {name: sum(row[name] for row in rows) for name in ("accepted", "lost", "doubled", "overruns", "behind")}
    slowest = {name: max(row[name] for row in calm) for name in ("median_ms", "p99_ms", "elsewhere_ms")}
    return {
        **sums,
        **slowest,
        "final_minutes": final["minutes"],
        "met": final["is_final"]
        and final["minutes"] < MINUTES
        and final["verified"] == FINAL - ENDLESS
        and slowest["elsewhere_ms"] < ELSEWHERE
        and all(row["verifying"] for row in rows)
        and sums["accepted"] == len(rows) * GROUPS * PER_DAY
        and not any(sums[name] for name in sums if name != "accepted")
        and all(row["shown"] == GROUPS for row in rows)
        and slowest["median_ms"] < MEDIAN
        and slowest["p99_ms"] < P99,
        "cores": len(os.sched_getaffinity(0)),
    }


def measure_board(
    database, url=None, groups=GROUPS, watchers=WATCHERS, seconds=SECONDS, kills=0, browser=True, silent=SILENT
):
    """Return a row: one new board, with all clients. url: of the PostgreSQL database; SQLite where there is none."""
    if (left := seconds_to_midnight(datetime.now(UTC))) < seconds + PATIENCE:
        time.sleep(left)  # the limit per day begins anew then
    with tempfile.TemporaryDirectory(prefix="board-") as folder, BoardProcess(Path(folder), url, PER_DAY) as server:
        settings = {"port": server.port, "groups": groups, "watchers": watchers, "seconds": seconds}
        with (
            start_clients(settings) as process,
            open_wall(server.port) if browser else contextlib.nullcontext() as page,
            flood(server.port, silent, "127.0.0.9"),
            Elsewhere(server) as elsewhere,
        ):
            if process.stdout.readline() != "ready\n":
                raise Problem("the clients of this bench did not start: the reason is above.")
            load = os.getloadavg()[0]
            process.stdin.write("go\n")
            process.stdin.flush()
            start = time.monotonic()
            rng = random.Random(SEED)
            for moment in sorted(rng.uniform(0.2, 0.9) * seconds for _ in range(kills)):
                server.kill_at(start + moment)
            report = json.loads(process.stdout.readline())
            elsewhere.stop()
            shown = count_groups(page, groups) if browser else None
        row = (
            {"database": database, "kills": kills, "groups": groups}
            | compare(server, report)
            | elsewhere.result
            | {"shown": shown}
        )
        left = server.end()
    return row | {"left": len(left), "load_before": round(load, 1)}


def seconds_to_midnight(moment):
    """Seconds from a moment to the end of its day in UTC, the time zone of this bench's boards."""
    following = datetime.combine(moment.date() + timedelta(days=1), datetime.min.time(), UTC)
    return (following - moment).total_seconds()


class Elsewhere(threading.Thread):
    """A student at another address, who loads the board's page twice per second. result: these columns of the row."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.has_ended = server, threading.Event()
        self.result = {"elsewhere_ms": 0.0, "verifying": 0}

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Stop loading the page."""
        self.has_ended.set()
        self.join()

    def run(self):
        import httpx

        with make_client(self.server.url, "127.0.0.2", limits=httpx.Limits(max_keepalive_connections=0)) as client:
            while not self.has_ended.wait(0.5):
                start = time.monotonic()
                with contextlib.suppress(httpx.TransportError):  # the server was killed
                    client.get("/").raise_for_status()
                    milliseconds = round(1000 * (time.monotonic() - start), 1)
                    self.result["elsewhere_ms"] = max(self.result["elsewhere_ms"], milliseconds)
                self.result["verifying"] = max(self.result["verifying"], count_verifiers(self.server))


def count_verifiers(server):
    """Return how many entries are being verified at this moment."""
    count = 0
    for process in server.processes():
        with contextlib.suppress(psutil.Error):
            count += verifier.__name__ in process.cmdline()
    return count


def compare(server, report):
    """Return columns of the row: what the clients report that they sent, against what the board has stored."""
    import httpx

    lost, doubled, overruns = 0, 0, 0
    with httpx.Client(base_url=server.url, trust_env=False, timeout=PATIENCE) as http:
        token = {"Authorization": f"Bearer {server.instructor()}"}
        for group in report["groups"]:
            history = http.get("/api/entries", headers={"Authorization": f"Bearer {group['token']}"}).json()["entries"]
            sent = {read_mark(http.get(f"/api/entries/{entry['id']}/notebook", headers=token)) for entry in history}
            there = {entry["id"] for entry in history}
            lost += sum(entry not in there or mark not in sent for mark, entry in group["acknowledged"].items())
            doubled += len(history) - len(sent)
            overruns += len(history) > PER_DAY
    times = sorted(report["times"])
    return {
        "accepted": sum(len(group["acknowledged"]) for group in report["groups"]),
        "refused": report["refused"],
        "lost": lost,
        "doubled": doubled,
        "overruns": overruns,
        "repeated": report["repeated"],
        "median_ms": round(1000 * statistics.median(times), 1),
        "p99_ms": round(1000 * times[int(0.99 * (len(times) - 1))], 1),
        "slowest_ms": round(1000 * times[-1], 1),
        "events": report["events"],
        "behind": report["behind"],
        "seconds": round(report["seconds"], 1),
    }


def read_mark(reply):
    """Return the text that identifies a notebook of this bench."""
    return reply.json()["metadata"]["mark"]


@contextlib.contextmanager
def open_wall(port):
    """Open the board's first page in a real browser; yields the page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1920, "height": 1080})
        page.goto(f"http://127.0.0.1:{port}/")
        yield page
        browser.close()


def count_groups(page, groups):
    """Return how many groups the page shows, once it shows `groups` or after a time limit. It is not reloaded."""
    from playwright.sync_api import TimeoutError

    count = "document.querySelectorAll('#choose-group option').length"
    with contextlib.suppress(TimeoutError):
        page.wait_for_function(f"groups => {count} === groups", arg=groups, timeout=1000 * SCORED)
    return page.evaluate(count)


# The clients, in a separate process


@contextlib.contextmanager
def start_clients(settings):
    """Start the process of all clients; yields it.

    It prints "ready", waits for the line "go", and in the end prints its report as one line of JSON.
    """
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
        self.times, self.versions = [], [0] * watchers  # versions: of the board, as each watching page knows it
        self.count = collections.Counter()

    async def run(self):
        """Prepare all requests, wait for "go", hand in and watch; prints the report."""
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
            end = time.monotonic() + NOTIFIED
            while min(self.versions, default=last) < last and time.monotonic() < end:
                await asyncio.sleep(0.1)
            for task in watching:
                task.cancel()
        behind = sum(version < last for version in self.versions)
        report = {"groups": self.groups, "times": self.times, "seconds": seconds, "behind": behind}
        print(json.dumps({"events": 0, "repeated": 0, "refused": 0} | self.count | report), flush=True)

    async def join(self, group):
        """Let a group join, and prepare its requests, one more than it may send."""
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
        """Hand in one entry, and later all others at once. The nearer the end, the more groups hand in."""
        start = time.monotonic()
        first, later = sorted(self.seconds * self.rng.random() ** 0.5 for _ in range(2))
        await asyncio.sleep(first)
        one = asyncio.create_task(self.send(group, *requests[0]))
        await asyncio.sleep(start + later - time.monotonic())
        await asyncio.gather(one, *(self.send(group, *each) for each in requests[1:]))

    async def send(self, group, mark, request):
        """Send a request again and again until there is an answer."""
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
        """Listen to the stream of events, and connect again whenever it ends."""
        while True:
            with contextlib.suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.write(b"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                async for line in reader:
                    if line.startswith(b"data:"):
                        self.versions[number] = json.loads(line[5:])["version"]
                        self.count["events"] += 1
                writer.close()
            await asyncio.sleep(self.rng.uniform(0.2, 1))


if __name__ == "__main__":
    asyncio.run(Clients(**json.loads(sys.argv[1])).run())
