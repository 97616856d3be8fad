"""Serve a class from one machine: a JupyterHub with a sandbox for each student, the leaderboard and formgrader.

Makes what is missing in FOLDER and serves until Ctrl-C; the work is done by `autograder.classroom`.
"""

from pathlib import Path

from course.errors import Problem


def add_arguments(parser):
    """The class's folder."""
    parser.add_argument(
        "folder", type=Path, nargs="?", metavar="FOLDER", help="the folder of everything that the class has here"
    )
    parser.add_argument(
        "--plan", type=int, metavar="N", help="say whether this machine can carry N students, and serve nothing"
    )
    parser.add_argument(
        "--send-grades", metavar="LAB", help="send the grades of a lab to the learning platform, and serve nothing"
    )


def run(args):
    """Serve the class until it is stopped; returns the exit status. Raises Problem."""
    if args.plan is not None:
        return plan_class(args.folder, args.plan)
    if args.folder is None:
        raise Problem("the class's folder is missing: course classroom FOLDER.")
    if args.send_grades:
        return send_grades(args.folder, args.send_grades)
    from autograder.classroom import serve

    serve.serve(args.folder, lambda sentence: print(sentence, flush=True))
    return 0


def plan_class(root, students):
    """Print what this machine can carry; returns 1 if it cannot carry that many students. Raises Problem.

    root: the class's folder, whose limits count; None for the limits of a new class.
    """
    from autograder.classroom import limits, plan, settings
    from autograder.classroom.folder import Folder

    if students < 1:
        raise Problem(f"--plan takes a number of students of at least 1, not {students}.")
    folder = Folder(root) if root else None
    if folder and not folder.settings.exists():
        raise Problem(
            f"{folder.root} is no class: it has no {folder.settings.name}. --plan alone takes default limits."
        )
    table = settings.read(folder).limits if folder else {}
    print("Measuring what one student needs here; this takes about a minute ...", flush=True)
    planned = plan.make_plan(students, limits.read(table, folder and folder.settings))
    print(planned.describe())
    return 0 if planned.is_possible else 1


def send_grades(root, lab):
    """Send the grades of a lab to the platform of the accounts; returns 1 if some could not be sent. Raises Problem."""
    from autograder.classroom import lti_grades, settings
    from autograder.classroom.folder import Folder

    folder = Folder(root)
    outcome = lti_grades.send(folder, settings.read(folder), lab)
    for sentence in outcome.failures:
        print(sentence)
    print(f"{outcome.sent} scores sent, {outcome.unchanged} unchanged, {len(outcome.failures)} not sent.")
    return 1 if outcome.failures else 0
