"""Serve a class from one machine: a JupyterHub with a sandbox for each student, the leaderboard and formgrader.

Makes what is missing in FOLDER and serves until Ctrl-C; the work is done by `autograder.classroom`.
"""

from pathlib import Path


def add_arguments(parser):
    """The class's folder."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of everything that the class has here")
    parser.add_argument(
        "--send-grades", metavar="LAB", help="send the grades of a lab to the learning platform, and serve nothing"
    )


def run(args):
    """Serve the class until it is stopped; returns the exit status. Raises Problem."""
    if args.send_grades:
        return send_grades(args.folder, args.send_grades)
    from autograder.classroom import serve

    serve.serve(args.folder, lambda sentence: print(sentence, flush=True))
    return 0


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
