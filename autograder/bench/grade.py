"""Grading a class: hand-ins per hour of `course grade` and of stock `nbgrader autograde`, and grading that is killed.

For each lab the same hand-ins, alternately solved and wrong, are graded side by side in one run by stock nbgrader and
by `course grade`, with one worker and with one per core; every class has the lab already. `ratio` is hand-ins per hour,
ours divided by stock's. `ceiling` is cores x stock's wall time / our CPU time: the ratio if nothing ever waited. CPU
time and memory are those of all processes below each command, sampled four times per second (shared memory counts
once). Then a class of copies of one lab's answers is graded while `course grade` is killed at random moments; every
grade must come out as the answers say. This takes hours; BENCH_GRADE_LABS="01 02 04" and BENCH_GRADE_HAND_INS=6 make it
shorter.
"""

import csv
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import nbformat
import psutil

from autograder.examination.control_groups import measure_usage
from autograder.gradebook.classroom import Classroom
from autograder.gradebook.folder import ClassFolder
from autograder.labs import answers, build, source

HAND_INS = int(os.environ.get("BENCH_GRADE_HAND_INS", 20))
CLASS, KILLS, SEED = 10 * HAND_INS, 3, 7
WAITING = ("01", "02", "04")  # labs where waiting and starting dominate
LEAST = 4  # times as many hand-ins per hour there
STOCK = """c = get_config()
c.CourseDirectory.root = {root!r}
c.CourseDirectory.course_id = "stock"
c.ClearSolutions.code_stub = {{"python": {stub!r}}}
c.ClearSolutions.text_stub = {answer!r}
"""


def rows():
    """One row per lab and way, then one for the class whose grading is killed."""
    labs = source.select_labs(os.environ.get("BENCH_GRADE_LABS", ""))
    for lab in labs:
        with tempfile.TemporaryDirectory() as folder:
            yield from side_by_side(lab, Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        yield kill_grading(labs[0], Path(folder))


def side_by_side(lab, folder):
    """Yield the rows of one lab: stock, then `course grade` per number of workers."""
    deserved = generate(lab, folder / "hand-ins", HAND_INS)
    stock = folder / "stock"
    stock.mkdir()
    config = STOCK.format(root=str(stock), stub=build.STUB, answer=build.ANSWER_STUB)
    ClassFolder(stock).configuration.write_text(config)
    Classroom(stock).release(lab)
    shutil.copytree(folder / "hand-ins", ClassFolder(stock).all_submitted)
    theirs = measure([sys.executable, "-m", "nbgrader", "autograde", lab], cwd=stock)
    yield {"lab": lab, "way": "stock", "workers": 1, "graded": len(graded(stock, lab))} | theirs
    cores = len(os.sched_getaffinity(0))
    for workers in dict.fromkeys([1, cores]):
        class_ = folder / f"class-{workers}"
        Classroom(class_).release(lab)
        ours = measure([*grading(folder / "hand-ins", class_), "--workers", str(workers)])
        yield {
            "lab": lab,
            "way": "course grade",
            "workers": workers,
            "graded": len(graded(class_, lab)),
            "ratio": round(theirs["seconds"] / ours["seconds"], 2),
            "ceiling": round(cores * theirs["seconds"] / (HAND_INS * ours["cpu_seconds_each"]), 2),
            "as_expected": scores(class_) == deserved,
        } | ours


def kill_grading(lab, folder):
    """Kill the grading of a class of copies at random moments, then let it end; returns the row."""
    rng = random.Random(SEED)
    deserved = generate(lab, folder / "hand-ins", CLASS)
    class_, graded_at_kills = folder / "class", []
    start = time.monotonic()
    for _ in range(KILLS):
        process = subprocess.Popen(grading(folder / "hand-ins", class_), stdout=subprocess.DEVNULL, env=with_path())
        time.sleep(rng.uniform(20, 60))
        process.kill()
        process.wait()
        graded_at_kills.append(len(graded(class_, lab)) if ClassFolder(class_).database.exists() else 0)
    last = subprocess.run(grading(folder / "hand-ins", class_), capture_output=True, text=True, env=with_path())
    before = last.stdout.count(", as before")
    points = scores(class_)
    return {
        "lab": lab,
        "way": "killed",
        "hand_ins": CLASS,
        "seconds": round(time.monotonic() - start, 1),
        "graded_at_kills": graded_at_kills,
        "not_run_again": before,
        "lost": len(deserved.keys() - points.keys()),
        "as_expected": points == deserved,
    }


def generate(lab, folder, number):
    """Write hand-ins, every other one with a wrong or another right answer; returns {student: points deserved}."""
    solution, released = build.solved(lab), nbformat.reads(json.dumps(build.student_version(lab, build.solved(lab))), 4)
    checks = filter(source.is_check, solution.cells)
    points = {cell.id: source.nbgrader(cell)["points"] + source.extra_points(cell) for cell in checks}
    given = [
        answer for answer in answers.read_all(lab, solution)[0] if "while" not in answer.source
    ]  # an endless loop would measure the time limit
    given = random.Random(SEED).sample(given, min(len(given), number // 2))
    solved = {cell.id: cell.source for cell in solution.cells if source.is_task(cell)}
    deserved = {}
    for index in range(number):
        answer = given[index // 2 % len(given)] if index % 2 else None
        work = solved | ({answer.task: answer.source} if answer else {})
        for cell in released.cells:
            cell.source = work.get(cell.id, cell.source)
        student = f"student-{index:03}"
        path = folder / student / lab / f"{lab}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(released, path)
        deserved[student] = sum(points.values()) - sum(points[check] for check in (answer.loses if answer else ()))
    return deserved


def grading(hand_ins, class_):
    return [sys.executable, "-m", "course.command", "grade", str(hand_ins), "--class", str(class_)]


def with_path():
    """The environment in which nbgrader finds its kernels and tools."""
    return os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def measure(command, cwd=None):
    """Run a command; returns its time, CPU time and memory, as part of a row."""
    start = time.monotonic()
    process = subprocess.Popen(
        command, cwd=cwd, env=with_path(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    spent, peak, over = {}, [0], threading.Event()

    def sample():
        while not over.wait(0.25):
            usage = measure_usage(process.pid)
            peak[0] = max(peak[0], usage.memory)
            for pid in usage.pids:
                try:
                    times = psutil.Process(pid).cpu_times()
                    spent[pid] = max(spent.get(pid, 0), times.user + times.system)
                except psutil.Error:
                    pass

    watcher = threading.Thread(target=sample)
    watcher.start()
    process.wait()
    seconds = time.monotonic() - start
    over.set()
    watcher.join()
    return {
        "hand_ins": HAND_INS,
        "seconds": round(seconds, 1),
        "per_hour": round(3600 * HAND_INS / seconds),
        "cpu_seconds_each": round(sum(spent.values()) / HAND_INS, 2),
        "peak_memory_mb": round(peak[0] / 2**20),
    }


def graded(class_, lab):
    """The students whose grade is in the gradebook."""
    with Classroom(class_).gradebook() as book:
        return [
            submission.student.id
            for submission in book.assignment_submissions(lab)
            if any(grade.auto_score is not None for notebook in submission.notebooks for grade in notebook.grades)
        ]


def scores(class_):
    """{student: points} of the class's grades.csv."""
    with ClassFolder(class_).grades.open() as file:
        return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}


def summary(rows):
    """Whether `course grade` is four times as fast where waiting dominates, and whether nothing was lost."""
    ratios = [row["ratio"] for row in rows if "ratio" in row and row["workers"] > 1 and row["lab"][:2] in WAITING]
    ours = [row for row in rows if row["way"] != "stock"]
    return {
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "smallest_ratio": min(ratios, default=None),
        "met": all(ratio >= LEAST for ratio in ratios) and all(row["as_expected"] for row in ours),
    }
