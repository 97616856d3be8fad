"""Write what students receive: the course without solutions, hidden tests and the grader."""

from autograder.labs import release


def add_arguments(parser):
    parser.add_argument("folder", metavar="DIR", help="a new or empty folder, or an earlier release, which is updated")
    parser.add_argument(
        "--send-to",
        metavar="ADDRESS",
        help="where students send their hand-ins, such as an e-mail address or a web page; shown when they hand in and "
        "kept in later releases",
    )


def run(args):
    """Write the release; raises Problem where labs/ is out of step or DIR holds something else."""
    count = release.release(args.folder, args.send_to)
    print(f"{args.folder} holds what students receive: {count} files; `make lab` works there.")
