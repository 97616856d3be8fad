"""Logs that do not repeat: each message appears at most once a minute, with the number of those that were left out."""

import logging
import time

MINUTE = 60  # seconds


class OncePerMinute(logging.Filter):
    """Lets a message through once a minute, whatever its arguments are; the next one says how many were left out."""

    def __init__(self):
        super().__init__()
        self.last, self.left_out = {}, {}  # message -> moment, number

    def filter(self, record):
        """Whether this record is written."""
        now, key = time.monotonic(), str(record.msg)[:200]
        if now - self.last.get(key, -MINUTE) < MINUTE:
            self.left_out[key] = self.left_out.get(key, 0) + 1
            return False
        if len(self.last) > 1000:  # messages with varying texts
            self.last.clear()
        self.last[key] = now
        if count := self.left_out.pop(key, 0):
            record.msg = f"{record.getMessage()} ({count} more since then)"
            record.args = ()
        return True


def keep_quiet(*names):
    """Let the loggers with these names repeat nothing."""
    for name in names:
        logging.getLogger(name).addFilter(OncePerMinute())
