"""Checks of the whole numbers that a call of the communicator is given: ranks, tags, colors and keys."""

from operator import index

from course.comm.transfer import ANY_SOURCE, ANY_TAG, PROC_NULL

LEAST = -(2**63)  # of int64
NAMES = {ANY_SOURCE: "ANY_SOURCE", ANY_TAG: "ANY_TAG", PROC_NULL: "PROC_NULL"}


def check_ends(sends, peer, tag, size):
    """Returns peer and tag as int; raises TypeError or ValueError if they are none that a message can have.

    sends: whether `peer` is the rank to send to, not to receive from. size: the number of ranks.
    """
    name = "dest" if sends else "source"
    try:
        peer, tag = index(peer), index(tag)
    except TypeError:
        wrong, given = ("tag", tag) if hasattr(peer, "__index__") else (name, peer)
        raise make_type_error(wrong, given) from None
    if not 0 <= peer < size and peer != PROC_NULL and (sends or peer != ANY_SOURCE):
        given = NAMES.get(peer, peer)
        raise ValueError(f"{name}={given}: there is no such rank. Ranks go from 0 to {size - 1}.")
    if not 0 <= tag < 2**31 and (sends or tag != ANY_TAG):
        raise ValueError(f"tag={NAMES.get(tag, tag)}: there is no such tag. Tags go from 0 to {2**31 - 1}.")
    return peer, tag


def check_number(name, given, least):
    """Returns `given` as an int; raises TypeError or ValueError unless it fits int64 and is at least `least`."""
    try:
        number = index(given)
    except TypeError:
        raise make_type_error(name, given) from None
    if not least <= number < 2**63:
        raise ValueError(f"{name}={number}: it must be at least {least} and less than 2**63.")
    return number


def make_type_error(name, given):
    """The TypeError for an argument that is no whole number."""
    return TypeError(f"{name} must be a whole number, not {given!r}.")
