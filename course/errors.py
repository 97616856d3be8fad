"""The exceptions whose message is meant for the person at the keyboard."""


class Problem(Exception):
    """What is wrong and what to do about it, in one sentence; shown without a traceback."""

    def _render_traceback_(self):
        """What a notebook shows in place of a traceback (IPython asks for this by name)."""
        return [str(self)]


class Interrupted(KeyboardInterrupt):
    """The interrupt button was pressed; what became of what ran, in one sentence."""

    def _render_traceback_(self):
        return [str(self)]
