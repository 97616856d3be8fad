"""A class of 30 on one server: they log in in waves, work in lab 04 with four engines, hang, hand in, get feedback.

The Hub is the real one, of `course classroom`. One student per wave logs in with a browser, the others by the Hub's
API; what a student runs are the cells of the solved lab, in a kernel of that student's server. In the second wave the
Hub is killed by SIGKILL while everybody works. At the end all hand-ins are graded by `course grade`, and each student
looks for the page.

One row per student: `check_ms`, the slowest of the lab's first checks, without the wait for a server's free engines;
`engines_s`, that wait with the start of engines; `idle_mb` and `busy_mb`, memory (PSS) of all that belongs to the
student, with an idle kernel and with four engines after a run; `hang_named`, whether a run that hangs was ended with a
report; `kept`, whether the kernel's variables and the student's file outlived the Hub; `errors`, the checks that
failed; `graded`, whether the feedback is there. `leftovers`, in the summary, are processes that outlive the class.
"""

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil

from autograder.classroom.folder import Folder
from autograder.labs import build
from autograder.testing.browser import PATIENCE, start_chromium
from autograder.testing.classroom import ClassroomProcess, Student

STUDENTS, WAVE, CHECKS = 30, 10, 3
LAB = "04-collectives"
SLOWEST = 10_000  # milliseconds that a check may take
IDLE = 450  # MB that an idle student may need
HANG = """
from course.spmd import spmd
try:
    spmd(lambda comm, x: comm.recv(x, source=(comm.rank + 1) % comm.size), [__import__("numpy").zeros(3)] * 4, ranks=4)
except Exception as error:
    print(error)
"""
KEEP = """
import os, pathlib
mine, kept = pathlib.Path(os.environ["COURSE_WORK"], "mine"), 42
mine.write_text("kept")
"""
HAND_IN = f"from course.student import hand_in; print(hand_in.run_command({LAB!r}, '--no-check'))"


def rows():
    """Yield a row per student, then one for the class."""
    cells = list(list_cells())
    names = [f"student{number:02}" for number in range(STUDENTS)]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(WAVE) as pool:
        class_ = ClassroomProcess(Path(folder) / "class", [f"{name},first-of-{name}" for name in names])
        try:
            class_.start()
            found = {}
            for number in range(0, STUDENTS, WAVE):
                wave = [Student(class_.url, name) for name in names[number : number + WAVE]]
                log_in_with_browser(class_, wave[0])
                works = [pool.submit(work, class_, student, cells) for student in wave]
                if number == WAVE:
                    kill_hub(class_, wave, works)
                found |= {student.name: (student, each.result()) for student, each in zip(wave, works, strict=True)}
            grade_all(class_)
            for student, row in found.values():
                yield row | {"graded": sees_feedback(student)}
            yield {"leftovers": len(class_.stop())}
        finally:
            class_.kill()


def list_cells():
    """Yield (source, whether it is a check) of the solved lab's cells up to the first CHECKS checks."""
    checks = 0
    for cell in build.solved(LAB).cells:
        if cell.cell_type != "code" or "measure" in cell.metadata.get("tags", []):
            continue
        is_check = cell.metadata.get("nbgrader", {}).get("grade", False)
        yield cell.source, is_check
        checks += is_check
        if checks == CHECKS:
            return


def log_in_with_browser(class_, student):
    """Log in as a person does, and wait for the start page."""
    with start_chromium() as browser:
        page = browser.new_context().new_page()
        page.set_default_timeout(2 * PATIENCE)
        page.goto(f"{class_.url}/")
        page.fill("input[name=username]", student.name)
        page.fill("input[name=password]", f"first-of-{student.name}")
        page.press("input[name=password]", "Enter")
        page.wait_for_selector(".jp-Notebook .jp-Cell")


def work(class_, student, cells):
    """One student's way through the lab; returns the row."""
    began = time.monotonic()
    student.log_in(f"first-of-{student.name}")
    student.start()
    row = {"student": student.name, "start_s": round(time.monotonic() - began, 1)}
    user = Folder(class_.folder).home(student.name).stat().st_uid
    student.run(KEEP)
    row["idle_mb"] = measure_memory(user)
    began = time.monotonic()
    student.run("from course import cluster; cluster.start(4)")
    row["engines_s"] = round(time.monotonic() - began, 1)
    times, row["errors"] = [], 0
    for source, is_check in cells:
        began = time.monotonic()
        output = student.run(source)
        times += [time.monotonic() - began] * is_check
        row["errors"] += is_check and "Error" in output
    row["check_ms"] = round(1000 * max(times))
    row["busy_mb"] = measure_memory(user)
    row["hang_named"] = "wait" in student.run(HANG)
    row["kept"] = student.run("print(kept, mine.read_text())").strip() == "42 kept"
    row["handed_in"] = "Handed in" in student.run(HAND_IN)
    student.run("cluster.stop()")
    student.stop()
    return row


def kill_hub(class_, wave, works):
    """Kill the Hub once every student of the wave has a kernel or has ended, and wait until it is back.

    works: the futures of what the students do.
    """
    while any(student.kernel is None and not each.done() for student, each in zip(wave, works, strict=True)):
        time.sleep(0.1)
    before = class_.log.read_text().count("The class: ")
    os.kill(class_.find_hub().pid, signal.SIGKILL)
    class_.wait_for("The class: ", before + 1)


def measure_memory(user):
    """The memory of all processes of a user id, in MB (PSS: pages that several share count in part)."""
    total = 0
    for process in psutil.process_iter(["uids"]):
        try:
            if process.info["uids"].real == user:
                total += process.memory_full_info().pss
        except psutil.Error:
            continue
    return round(total / 2**20)


def grade_all(class_):
    """Grade what was handed in, as an instructor does."""
    command = [sys.executable, "-P", "-m", "course.command", "grade", str(class_.folder)]
    subprocess.run(command, capture_output=True, check=True)


def sees_feedback(student):
    """Whether the student's server shows the page of the lab."""
    student.start()
    reply = student.ask("GET", f"{student.server}/api/contents/feedback/{LAB}/{LAB}.html", params={"content": 0})
    student.stop()
    return reply.status_code == 200


def summary(rows):
    """Whether nothing was lost or left, no check failed or took too long, and idle students need little memory."""
    *students, end = rows
    lost = [row["student"] for row in students if not (row["kept"] and row["handed_in"] and row["graded"])]
    checks = [row["check_ms"] for row in students]
    numbers = {
        "students": len(students),
        "lost": len(lost),
        "leftovers": end["leftovers"],
        "median_check_ms": round(statistics.median(checks)),
        "slowest_check_ms": max(checks),
        "idle_mb": round(statistics.median(row["idle_mb"] for row in students)),
        "busy_mb": round(statistics.median(row["busy_mb"] for row in students)),
        "hangs_named": sum(row["hang_named"] for row in students),
        "checks_failed": sum(row["errors"] for row in students),
    }
    good = (
        not lost and not end["leftovers"] and numbers["hangs_named"] == len(students) and not numbers["checks_failed"]
    )
    return numbers | {"met": good and max(checks) < SLOWEST and numbers["idle_mb"] <= IDLE}
