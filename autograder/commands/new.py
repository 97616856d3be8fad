"""Write the folder of a new lab, which builds and passes and is there to be changed."""

from autograder.authoring import new


def add_arguments(parser):
    parser.add_argument("lab", metavar="NN-name", help="two digits and a name, as in 10-name")


def run(args):
    """Write the lab and say what to do next; raises Problem where the name does not fit or is taken."""
    new.create_lab(args.lab)
    print(
        f"Wrote solutions/{args.lab}/ and a row in solutions/index.py. Change them (see solutions/README.md), "
        f"and run `course check {args.lab}` as you go."
    )
