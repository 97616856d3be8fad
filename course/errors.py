"""The one exception whose message is meant for the person at the keyboard."""


class Problem(Exception):
    """What is wrong and what to do about it, in one sentence; shown without a traceback."""
