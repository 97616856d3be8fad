"""What a class's instructor gets of each lab besides the gradebook: a summary, look-alikes, and points by task.

Reads the gradebook, the autograded notebooks and examined/LAB/STUDENT.json (what the grader noted of a run: seconds,
cpu_seconds, peak_memory in bytes, remarks, unsafe; a class graded by nbgrader's own commands has none). Writes
reports/LAB/ in the class's folder: summary.html, similarity.html, tasks.csv. All of it names students, so it is the
instructor's alone.
"""

import re
import statistics
from collections import Counter
from dataclasses import dataclass, field

import nbformat

from autograder.labs import answers, source
from autograder.reports import feedback, grades_csv, render, similarity
from course import plots

MOST_HINTS = 6  # of one check
MOST_CHARACTERS_OF_HINT = 400
MOST_NAMES = 30  # in one line
MOST_LINES = 40  # of a passage, and characters of its lines
MOST_CHARACTERS = 160
OUTCOMES = ["full points", "some points", "no points", "left empty", "waits for a person"]


def write(classroom):
    """Write the reports of every lab that somebody handed in."""
    with classroom.gradebook() as book:
        labs = [lab.name for lab in book.assignments if lab.submissions]
    for lab in labs:
        paths = [classroom.solution(lab), classroom.student_version(lab)]
        if not all(path.is_file() for path in paths):
            continue  # an assignment of another make
        solution, release = map(notebook, paths)
        hand_ins = read(classroom, lab)
        tasks = {
            task["name"]: [source.nbgrader(cell)["grade_id"] for cell in task["graded"]]
            for task in feedback.tasks_of(solution.cells)
        }
        folder = classroom.reports(lab)
        folder.mkdir(parents=True, exist_ok=True)
        grades_csv.write_tasks(folder / "tasks.csv", tasks, hand_ins)
        (folder / "summary.html").write_text(summary(lab, tasks, hand_ins, release), encoding="utf-8")
        page_of_pairs = look_alikes(lab, hand_ins, solution, release)
        (folder / "similarity.html").write_text(page_of_pairs, encoding="utf-8")


@dataclass
class Points:
    """Points of a cell or of several: given, at most, and of these how many a person has still to give."""

    score: float = 0.0
    max: float = 0.0
    waits: float = 0.0


@dataclass
class GradedHandIn:
    """One hand-in as it was graded. `run` is what the grader noted of its run, {} where it did not."""

    student: str
    last_name: str
    first_name: str
    points: dict  # grade_id -> Points
    penalty: float = 0.0
    cells: list = field(default_factory=list)
    remarks: list = field(default_factory=list)
    run: dict = field(default_factory=dict)

    def task(self, cells):
        """The points of these cells together."""
        found = [self.points[cell] for cell in cells if cell in self.points]
        return Points(*(sum(getattr(each, name) for each in found) for name in ("score", "max", "waits")))

    def left_empty(self, release):
        """Names of the tasks and answers in which nothing was written."""
        given = {cell.metadata.nbgrader.grade_id: cell.source.strip() for cell in release.cells if is_work(cell)}
        theirs = {source.nbgrader(cell)["grade_id"]: cell.source.strip() for cell in self.cells if is_work(cell)}
        return {name for name, source in given.items() if theirs.get(name, "") in ("", source)}


def is_work(cell):
    """A cell that students write in."""
    return source.is_task(cell) or source.is_answer(cell)


def read(classroom, lab):
    """The hand-ins of a lab, by student."""
    with classroom.gradebook() as book:
        submissions = book.find_assignment(lab).submissions
        points, hand_ins = points_of(book, [submission.id for submission in submissions]), []
        for submission in submissions:
            student, penalty = submission.student, submission.late_submission_penalty or 0.0
            names = (student.id, student.last_name, student.first_name)
            hand_ins.append(GradedHandIn(*names, points.get(submission.id, {}), penalty))
    for hand_in in hand_ins:
        path = classroom.autograded(hand_in.student, lab)
        if path.is_file():
            graded = notebook(path)
            hand_in.cells, hand_in.remarks = graded.cells, list(graded.metadata.get("course", {}).get("remarks", []))
        hand_in.run = classroom.read_record(hand_in.student, lab)
        hand_in.remarks += [remark for remark in hand_in.run.get("remarks", []) if remark not in hand_in.remarks]
    return sorted(hand_ins, key=lambda hand_in: hand_in.student)


def points_of(book, submissions):
    """id of a submission -> grade_id -> Points."""
    from nbgrader.api import BaseCell, Grade, SubmittedNotebook

    points = {}
    query = book.db.query(SubmittedNotebook.assignment_id, BaseCell.name, Grade, Grade.score, Grade.max_score)
    query = query.join(Grade, Grade.notebook_id == SubmittedNotebook.id).join(BaseCell, BaseCell.id == Grade.cell_id)
    for submission, cell, grade, score, most in query.filter(SubmittedNotebook.assignment_id.in_(submissions)):
        waits = most if grade.needs_manual_grade and grade.manual_score is None else 0.0
        points.setdefault(submission, {})[cell] = Points(score, most, waits)
    return points


def notebook(path):
    """A notebook of the class's own, which was checked when it was written."""
    return nbformat.v4.reads(path.read_text(encoding="utf-8"))


def summary(lab, tasks, hand_ins, release):
    """The summary of one lab, as HTML."""
    empty = {hand_in.student: hand_in.left_empty(release) for hand_in in hand_ins}
    rows = [task_row(name, cells, hand_ins, empty) for name, cells in tasks.items()]
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
        distribution=picture(
            plots.histogram(totals, x="points", y="hand-ins", title="Points of a hand-in", ends=(0, most))
        ),
        outcomes=picture(plots.shares(shares, OUTCOMES, x="hand-ins", title="What became of each task")),
        tasks=rows,
        hints=hints(tasks, hand_ins, empty),
        runs=runs(hand_ins),
        remarks=remarks(hand_ins),
        most_names=MOST_NAMES,
    )


def task_row(name, cells, hand_ins, empty):
    """One task's points over the class."""
    points = [hand_in.task(cells) for hand_in in hand_ins]
    outcomes = Counter(
        outcome(of_one, name in empty[hand_in.student]) for of_one, hand_in in zip(points, hand_ins, strict=True)
    )
    return {
        "name": name,
        "max": max(each.max for each in points),
        "mean": statistics.fmean([each.score for each in points if not each.waits] or [0.0]),
        "outcomes": {key: outcomes[key] for key in OUTCOMES},
    }


def outcome(points, empty):
    """Which of OUTCOMES became of a task."""
    full, some, none, left, waits = OUTCOMES
    if empty and not points.score:
        return left
    if points.waits:
        return waits
    return full if points.score >= points.max else some if points.score > 0 else none


def picture(plot):
    """A plot as HTML with its text twin."""
    return plot._repr_mimebundle_()["text/html"]


NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?!\w)", re.IGNORECASE)


def hints(tasks, hand_ins, empty):
    """For each check that gave hints: its name, how many hand-ins got one, and the most frequent.

    Hints that differ in numbers only are one; a number that differs is shown as …, with the most frequent wording. What
    a check says of a task that was left empty is left out.
    """
    found = {cell: {} for cells in tasks.values() for cell in cells}
    task_of = {cell: task for task, cells in tasks.items() for cell in cells}
    for hand_in in hand_ins:
        for cell in hand_in.cells:
            name = source.nbgrader(cell).get("grade_id")
            if not source.is_check(cell) or task_of.get(name) in {None, *empty[hand_in.student]}:
                continue
            said = [output["evalue"] for output in cell.outputs if output["output_type"] == "error"][:1]
            for hint in said:
                hint = " ".join(render.plain(hint, MOST_CHARACTERS_OF_HINT).split())
                alike = re.sub(r"#(?:[ ,;]+#)+", "# #", NUMBER.sub("#", hint))
                found[name].setdefault(alike, []).append(hint)
    checks = []
    for name, groups in found.items():
        ranked = sorted(groups.values(), key=lambda group: (-len(group), group[0]))
        if ranked:
            checks.append({
                "name": name,
                "count": sum(map(len, ranked)),
                "hints": [{"count": len(group), **worded(group)} for group in ranked[:MOST_HINTS]],
                "others": sum(map(len, ranked[MOST_HINTS:])),
            })  # fmt: skip
    return sorted(checks, key=lambda check: -check["count"])


def worded(group):
    """Hints that differ in numbers only, as one text, and the most frequent of them where they do differ."""
    (most, count), *others = Counter(group).most_common()
    if not others:
        return {"text": most, "example": None}
    numbers = [NUMBER.findall(hint) for hint in group]
    example = f"most often, {count} times: {most}" if count > 1 else f"for example: {most}"
    if len({len(each) for each in numbers}) > 1:  # arrays of several lengths
        return {"text": NUMBER.sub("…", most), "example": example}
    equal = iter([len(set(column)) == 1 for column in zip(*numbers, strict=True)])
    shown = NUMBER.sub(lambda match: match[0] if next(equal) else "…", most)
    return {"text": shown, "example": example}


MEASURED = [
    ("seconds", "time from start to end (s)", 1.0),
    ("cpu_seconds", "processor time (s)", 1.0),
    ("peak_memory", "largest memory (MB)", 1e-6),
]


def runs(hand_ins):
    """What running the hand-ins took: a row a quantity, with its picture; [] where nothing was noted."""
    rows = []
    for key, name, scale in MEASURED:
        known = [(hand_in.run[key] * scale, hand_in.student) for hand_in in hand_ins if is_number(hand_in.run.get(key))]
        if known:
            values = [value for value, _ in known]
            rows.append({
                "name": name,
                "count": len(values),
                "sum": sum(values) if key != "peak_memory" else None,
                "median": statistics.median(values),
                "highest": sorted(known, reverse=True)[:3],
                "picture": picture(plots.histogram(values, x=name, y="hand-ins", title=f"Runs: {name}")),
            })  # fmt: skip
    return rows


def is_number(value):
    """A finite number that is none below 0."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e18


def remarks(hand_ins):
    """[(remark, students)], those of most students first."""
    said = {}
    for hand_in in hand_ins:
        for remark in dict.fromkeys(map(str, hand_in.remarks)):
            said.setdefault(remark, []).append(hand_in.student)
    return sorted(said.items(), key=lambda pair: (-len(pair[1]), pair[0]))


def look_alikes(lab, hand_ins, solution, release):
    """The similarity report of one lab, as HTML."""
    given = [cell.source for cell in release.cells if cell.cell_type == "code"]
    given += [cell.source for cell in solution.cells if source.is_task(cell)]
    given += [answer.source for answer in answers.read_all(lab, solution)[0] if answer.right]
    pairs, more = similarity.compare(
        {hand_in.student: students_code(hand_in.cells) for hand_in in hand_ins}, [("", each) for each in given]
    )
    shown = [shown_pair(pair) for pair in pairs]
    return render.render("report/similarity.html.j2", lab=lab, students=len(hand_ins), pairs=shown, more=more)


def students_code(cells):
    """(name, source) of the cells in which students wrote code."""
    own = [cell for cell in cells if cell.cell_type == "code" and not source.is_measure(cell)]
    theirs = [cell for cell in own if source.is_task(cell) or not source.nbgrader(cell)]
    return [(source.nbgrader(cell).get("grade_id", "a cell of their own"), cell.source) for cell in theirs]


def shown_pair(pair):
    """A pair as its page shows it."""
    passages = similarity.joined(pair)
    shown = passages[: similarity.MOST_PASSAGES]
    return {
        "tokens": pair.tokens,
        "weight": pair.weight,
        "names": [pair.left.name, pair.right.name],
        "shares": [pair.share(pair.left), pair.share(pair.right)],
        "passages": [[side(pair.left, each.left), side(pair.right, each.right)] for each in shown],
        "others": len(passages) - len(shown),
    }


def side(code, tokens):
    """A passage in one hand-in: whose, in which cell, from which line on, and its lines."""
    cell, first, lines = code.excerpt(tokens)
    cut = [render.plain(line, MOST_CHARACTERS) for line in lines[:MOST_LINES]]
    return {
        "student": code.name,
        "cell": cell,
        "first": first,
        "last": first + len(lines) - 1,
        "text": "\n".join(cut),
        "left_out": len(lines) - len(cut),
    }
