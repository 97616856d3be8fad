"""Build the students' notebooks in labs/ from the text in solutions/.

With --check nothing is written, and the exit status says whether labs/ is in step.
"""

from autograder.labs import build, source


def add_arguments(parser):
    parser.add_argument("--check", action="store_true", help="write nothing; fail when labs/ is out of step")


def run(args):
    """Build all labs, or compare them with labs/; returns 1 where --check finds a difference."""
    built = build.build_all()
    stale, left_over = build.differences(built)
    if args.check:
        for path in stale + left_over:
            print(f"{relative(path)} is not what solutions/ gives: run `course build`.")
        return 1 if stale or left_over else 0
    build.write(built, stale)
    for path in stale:
        print(f"built {relative(path)}")
    for path in left_over:
        path.unlink()
        print(f"removed {relative(path)}, which has no text in solutions/")
    if not stale and not left_over:
        print(f"labs/ is in step with solutions/ ({len(built)} notebooks).")
    return 0


def relative(path):
    """A path as people write it, from the folder of the course."""
    return path.relative_to(source.LABS.parent)
