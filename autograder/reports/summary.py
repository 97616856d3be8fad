"""Renders the summary of one lab for the instructor: points, tasks, hints, runs and remarks. Writes nothing."""

import re
import statistics
from collections import Counter

from autograder.labs import source
from autograder.reports import render
from course import plots

MOST_HINTS = 6  # per check
MOST_CHARACTERS_OF_HINT = 400
ROWS = 8  # tasks in one picture
MOST_NAMES = 30  # in one line
OUTCOMES = ["full points", "some points", "no points", "left empty", "waits for a person"]
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?!\w)", re.IGNORECASE)
QUANTITIES = [
    ("seconds", "time", "time from start to end (s)", 1.0),
    ("cpu_seconds", "processor", "processor time (s)", 1.0),
    ("peak_memory", "memory", "peak memory (MB)", 1e-6),
]


def render_summary(lab, tasks, hand_ins, release):
    """The summary of one lab, as HTML.

    tasks: dict from a task's name to the names of the cells that give its points. hand_ins: list of GradedHandIn.
    release: the notebook that students receive.
    """
    empty = {hand_in.student: hand_in.find_empty(release) for hand_in in hand_ins}
    rows = [summarize_task(name, cells, hand_ins, empty) for name, cells in tasks.items()]
    totals = [sum(points.score for points in hand_in.points.values()) for hand_in in hand_ins]
    shares = {row["name"]: [row["outcomes"][outcome] for outcome in OUTCOMES] for row in rows}
    most = max(sum(points.max for points in hand_in.points.values()) for hand_in in hand_ins)
    return render.render(
        "report/summary.html.j2",
        lab=lab,
        students=len(hand_ins),
        most=most,
        mean=statistics.fmean(totals),
        median=statistics.median(totals),
        waiting=sum(any(points.waits for points in hand_in.points.values()) for hand_in in hand_ins),
        late=sum(hand_in.penalty > 0 for hand_in in hand_ins),
        unsafe=sum(bool(hand_in.run.get("unsafe")) for hand_in in hand_ins),
        distribution=to_html(
            plots.histogram(
                totals,
                x="points",
                y="hand-ins",
                title="Points per hand-in",
                ends=(0, max(most, *totals)),
                is_small=True,
            )
        ),
        outcomes=draw_outcomes(shares),
        tasks=rows,
        hints=count_hints(tasks, hand_ins, empty),
        runs=summarize_runs(hand_ins),
        remarks=group_remarks(hand_ins),
        most_names=MOST_NAMES,
    )


def draw_outcomes(shares):
    """Pictures of the outcomes of at most ROWS tasks each. shares: name of a task -> counts, as in `plots.shares`."""
    names, pictures = list(shares), []
    parts = [names[start : start + ROWS] for start in range(0, len(names), ROWS)]
    for part in parts:
        title = "Outcome of each task" if len(parts) == 1 else f"Outcome of {part[0]} to {part[-1]}"
        rows = {name: shares[name] for name in part}
        pictures.append(to_html(plots.shares(rows, OUTCOMES, x="hand-ins", title=title, is_small=True)))
    return pictures


def summarize_task(name, cells, hand_ins, empty):
    """One task's points over the class."""
    points = [hand_in.sum_points(cells) for hand_in in hand_ins]
    outcomes = Counter(
        classify(of_one, name in empty[hand_in.student]) for of_one, hand_in in zip(points, hand_ins, strict=True)
    )
    return {
        "name": name,
        "max": max(each.max for each in points),
        "extra": max(each.extra for each in points),
        "mean": statistics.fmean([each.score for each in points if not each.waits] or [0.0]),
        "outcomes": {key: outcomes[key] for key in OUTCOMES},
    }


def classify(points, is_empty):
    """Which of OUTCOMES a task had in one hand-in."""
    full, some, none, left_empty, waits = OUTCOMES
    if is_empty and not points.score:
        return left_empty
    if points.waits:
        return waits
    return full if points.score >= points.max + points.extra else some if points.score > 0 else none


def to_html(plot):
    """A plot as HTML, with its text twin."""
    return plot._repr_mimebundle_()["text/html"]


def count_hints(tasks, hand_ins, empty):
    """One dict per check that gave hints: its name, the number of hand-ins that got one, and the most frequent hints.

    Hints that differ only in their numbers are counted together. A hint on a task that was left empty is ignored.
    """
    hints = {cell: {} for cells in tasks.values() for cell in cells}
    task_of = {cell: task for task, cells in tasks.items() for cell in cells}
    for hand_in in hand_ins:
        for cell in hand_in.cells:
            name = source.nbgrader(cell).get("grade_id")
            if not source.is_check(cell) or task_of.get(name) in {None, *empty[hand_in.student]}:
                continue
            messages = [output["evalue"] for output in cell.outputs if output["output_type"] == "error"]
            for message in messages[:1]:
                hint = " ".join(render.clean(message, MOST_CHARACTERS_OF_HINT).split())
                pattern = re.sub(r"#(?:[ ,;]+#)+", "# #", NUMBER.sub("#", hint))
                hints[name].setdefault(pattern, []).append(hint)
    checks = []
    for name, groups in hints.items():
        ranked = sorted(groups.values(), key=lambda group: (-len(group), group[0]))
        if ranked:
            checks.append({
                "name": name,
                "count": sum(map(len, ranked)),
                "hints": [{"count": len(group), **merge_hints(group)} for group in ranked[:MOST_HINTS]],
                "others": sum(map(len, ranked[MOST_HINTS:])),
            })  # fmt: skip
    return sorted(checks, key=lambda check: -check["count"])


def merge_hints(group):
    """One text for hints that differ only in their numbers, with … for each number that differs, and an example."""
    (most, count), *others = Counter(group).most_common()
    if not others:
        return {"text": most, "example": None}
    numbers = [NUMBER.findall(hint) for hint in group]
    example = f"most often, {count} times: {most}" if count > 1 else f"for example: {most}"
    if len({len(each) for each in numbers}) > 1:  # arrays of different lengths
        return {"text": NUMBER.sub("…", most), "example": example}
    is_equal = iter([len(set(column)) == 1 for column in zip(*numbers, strict=True)])
    text = NUMBER.sub(lambda match: match[0] if next(is_equal) else "…", most)
    return {"text": text, "example": example}


def summarize_runs(hand_ins):
    """What running the hand-ins took: one dict per quantity, with its picture; [] where there are no records."""
    rows = []
    for key, title, name, scale in QUANTITIES:
        known = [(hand_in.run[key] * scale, hand_in.student) for hand_in in hand_ins if is_number(hand_in.run.get(key))]
        if known:
            values = [value for value, _ in known]
            picture = plots.histogram(values, x=name, y="hand-ins", title=f"Runs: {title}", is_small=True)
            rows.append({
                "name": name,
                "count": len(values),
                "sum": sum(values) if key != "peak_memory" else None,
                "median": statistics.median(values),
                "highest": sorted(known, reverse=True)[:3],
                "picture": to_html(picture),
            })  # fmt: skip
    return rows


def is_number(value):
    """Is this a finite number, not below 0?"""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e18


def group_remarks(hand_ins):
    """(remark, students) of each remark, those about most students first."""
    students = {}
    for hand_in in hand_ins:
        for remark in dict.fromkeys(map(str, hand_in.remarks)):
            students.setdefault(remark, []).append(hand_in.student)
    return sorted(students.items(), key=lambda pair: (-len(pair[1]), pair[0]))
