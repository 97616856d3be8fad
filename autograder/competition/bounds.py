"""How long the verification of an entry may take: the same for every entry, and stated before anybody hands in.

Seconds are those of the sandbox's clock, which stands still while other work keeps the entry from running, so that a
busy machine refuses nobody. Of the honest solutions in `course bench competition`, the slowest takes 16 seconds per
call, less than two minutes in all: two cores verify 60 such entries within an hour.
"""

CELL_SECONDS = 120  # per cell of the notebook
CALL_SECONDS = 120  # per call of `classify`
ENTRY_SECONDS = 360  # for all cells and all calls, of time as well as of processor time
CALLS = 7  # of `classify`: three per split, and one with shuffled labels


def describe():
    """The bounds in words, for those who hand in."""
    return (
        f"The board runs your notebook again and calls classify {CALLS} times, on one core: each cell and each call "
        f"may take {CALL_SECONDS // 60} minutes, and everything together {ENTRY_SECONDS // 60} minutes, of time and of "
        "processor time. An entry that takes longer is refused."
    )
