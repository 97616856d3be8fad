"""Reads the times at which hand-ins were handed in; touches nothing."""

import re
from datetime import UTC, datetime, timedelta


def to_utc(text):
    """Convert a time in any form that nbgrader reads into one that sorts: "2026-03-01 10:00:00 UTC".

    A time without a zone is taken for UTC. Returns "" where `text` is not a time.
    """
    from nbgrader.utils import parse_utc

    if not re.match(r"\d{4}-\d\d-\d\d|\d{14}", text, re.ASCII):  # nbgrader reads "5" as the fifth of this month
        return ""
    try:
        return f"{parse_utc(text).isoformat(' ')} UTC"
    except (ValueError, OverflowError, TypeError):
        return ""


def is_in_future(time):
    """Whether a time from `to_utc` is more than a day ahead of this machine's clock."""
    return time > to_utc((datetime.now(UTC) + timedelta(days=1)).isoformat(" "))
