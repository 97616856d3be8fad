"""The exceptions whose message is meant for the person at the keyboard."""


class Problem(Exception):
    """The message says in one sentence what is wrong and what to do about it; it is shown without a traceback."""

    def _render_traceback_(self):
        """The lines that a notebook shows instead of a traceback; IPython calls this method by name."""
        return [str(self)]


class Interrupted(KeyboardInterrupt):
    """The interrupt button was pressed; the message says in one sentence what happened to the running work."""

    def _render_traceback_(self):
        """The lines that a notebook shows instead of a traceback, as in `Problem`."""
        return [str(self)]
