"""Run the competition's leaderboard, or look after it.

    course board DIR                    run the board in this folder (a new one if it is empty); Ctrl-C stops it
    course board DIR --set NAME=VALUE   change a setting: name, code, deadline, time_zone, per_day, joining (code,
                                        single-use, closed), choices (1 or 2) or phases (as on the instructor's page)
    course board backup DIR [FILE]      copy the whole board into one file
    course board restore DIR FILE       make a board from that file, in a folder without one
    course board audit DIR              check that nothing in the past was changed
    course board export DIR FILE        write the standing as CSV
    course board grade DIR CLASS        put the standing into the gradebook of a class

All but `course board DIR` and `restore` may be used while the board runs. DIR contains the database, the instructor's
token and backups/. A file DIR/board.toml (the same settings) is read once, when a new board is made.
"""

import argparse
import contextlib
from pathlib import Path

import sqlalchemy as sql

from autograder.competition.leaderboard import audit, folder, formats, grades, rules, server
from autograder.competition.leaderboard import backup as backups
from autograder.competition.leaderboard.store.database import explain
from autograder.competition.leaderboard.store.tokens import make_token
from course.errors import Problem
from course.files import write_whole

ACTIONS = ("backup", "restore", "audit", "export", "grade")


def add_arguments(parser):
    parser.formatter_class, parser.description = argparse.RawDescriptionHelpFormatter, __doc__
    parser.add_argument("action", nargs="?", choices=ACTIONS, metavar="ACTION", help=" | ".join(ACTIONS))
    parser.add_argument("folder", type=Path, metavar="DIR", help="the board's folder")
    parser.add_argument("target", type=Path, nargs="?", metavar="FILE", help="the file, or the class's folder")
    parser.add_argument("--db", metavar="URL", help="use another database: postgresql://user@host/name")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", dest="assignments",
        help="change a setting, as in deadline=2026-12-18T23:59 (repeatable); does not start the board",
    )  # fmt: skip
    parser.add_argument("--confirm", action="store_true", help="with --set deadline=...: move the deadline")
    parser.add_argument("--host", default="127.0.0.1", help="listen here; 0.0.0.0 also admits other machines")
    parser.add_argument("--port", type=int, default=8000, help="the port, 8000 by default; 0: any free one")
    parser.add_argument("--certificate", type=Path, metavar="FILE", help="serve by TLS with this certificate (PEM)")
    parser.add_argument("--key", type=Path, metavar="FILE", help="the certificate's key (PEM), if it is another file")
    parser.add_argument("--profile", metavar="NAME", help="verify entries on the ipyparallel cluster of this profile")
    parser.add_argument(
        "--receipt", action="append", default=[], metavar="HASH", help="audit: a hash that the log must contain"
    )
    parser.add_argument("--members", type=Path, metavar="CSV", help="grade: a table with the columns group and student")


def run(args):
    """Do what the arguments say. Returns the exit status. Raises Problem."""
    if args.action in ("restore", "export", "grade") and args.target is None:
        raise Problem(f"name the {'class' if args.action == 'grade' else 'file'}: course board {args.action} DIR FILE.")
    if args.action is None and args.target is not None:
        raise Problem(f"{args.folder} is none of {', '.join(ACTIONS)}. To start a board: course board DIR.")
    if args.action is not None and args.assignments:
        raise Problem("--set stands alone: course board DIR --set NAME=VALUE.")
    if args.key and not args.certificate:
        raise Problem("--key needs --certificate, the file with the certificate that belongs to it.")
    with contextlib.closing(folder.open_store(args.folder, args.db)) as store:
        try:
            return act(args, store)
        except sql.exc.DatabaseError as error:
            raise Problem(f"the board's database cannot be used: {explain(error)}.") from error


def act(args, store):
    """Do what the arguments say with this Store. Returns the exit status."""
    if args.action == "restore":
        return restore(args.folder, store, args.target)
    if args.action is None and not args.assignments:
        return serve(args, store)
    if store.database.is_sqlite and not Path(store.database.url.database).is_file():
        raise Problem(f"{args.folder} has no board: make one with `course board {args.folder}`.")
    store.database.require_present_form()
    return look_after(args, store)


def look_after(args, store):
    """Do what is possible while the board runs. Returns the exit status."""
    if args.action == "backup":
        return backup(args.folder, store, args.target)
    if args.action == "audit":
        return check(store, args.receipt)
    if args.action == "export":
        return export(store, args.target)
    if args.action == "grade":
        return grade(store, args.target, args.members)
    folder.change_settings(store, args.assignments, args.confirm)
    return 0


def serve(args, store):
    """Run the board in the folder."""
    tls = server.load_certificate(args.certificate, args.key) if args.certificate else None
    with (
        folder.private_files(),
        folder.lock_folder(args.folder),
        server.listen(args.host, args.port) as listener,
    ):
        folder.prepare_board(args.folder, store)
        server.serve(store, listener, tls, args.profile)
    return 0


def backup(path, store, target):
    """Back the board up, by default into backups/ of its folder."""
    target = target or path / "backups" / f"{rules.now():%Y%m%d-%H%M%S}.sqlite"
    with folder.private_files():
        head = backups.back_up(store, target)
    print(f"Backed up to {target}")
    server.print_head(head)
    return 0


def restore(path, store, target):
    """Make the board in the folder `path` from a backup, with a new token of the instructor's."""
    with folder.private_files(), folder.lock_folder(path):
        head = backups.restore(target, store, path)
        folder.keep_token(path / "instructor-token", store, make_token())
    print(f"Restored to {path}: start it with `course board {path}`.")
    server.print_head(head)
    return 0


def check(store, receipts):
    """Print whether the log and the board are as they were; the exit status is 1 if they are not."""
    faults = audit.find_faults(store.log, receipts)
    for fault in faults or ["Nothing in the log was changed, and the board is as the log says."]:
        print(fault)
    server.print_head(store.log.read_head())
    return 1 if faults else 0


def export(store, target):
    """Write the standing as CSV."""
    try:
        write_whole(target, formats.standing_as_csv(store.visible.read_standing()))
    except OSError as error:
        raise Problem(f"{target} cannot be written ({error.strerror}).") from error
    print(f"Wrote {target}")
    return 0


def grade(store, target, members):
    """Put the standing into the gradebook of the class in the folder `target`."""
    standing = store.visible.read_standing()
    names = grades.find_groups(standing)
    members = grades.read_members(members, names) if members else {name: [name] for name in names}
    count, path = grades.grade_class(standing, target, members)
    print(f"Put {count} students into the gradebook, by the {standing.part} part, and wrote {path}")
    for name in sorted(names - members.keys()):
        print(f"{name}: the table names no student of this group.")
    if not standing.is_final:
        print("The standing is not final yet: run this again when it is.")
    return 0
