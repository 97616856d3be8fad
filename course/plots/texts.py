"""Numbers and curves in words: the parts from which text twins are made. Pure functions of numbers and strings."""

import numpy as np


def number(value):
    """A number as text with four significant digits: 1,234 or 0.5678 or 1.234e+09."""
    value = float(value)
    if not np.isfinite(value):
        return {"nan": "not a number", "inf": "infinity", "-inf": "minus infinity"}[str(value)]
    if value == 0:
        return "0"
    if not 1e-4 <= abs(value) < 1e7:
        return f"{value:.3e}"
    digits = max(0, 3 - int(np.floor(np.log10(abs(value)))))
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def duration(seconds):
    """Seconds as text with their unit: 61.2 µs or 1.5 s."""
    scale, unit = time_unit(seconds)
    return f"{number(seconds * scale)} {unit}"


def time_unit(seconds):
    """(units per second, unit): the unit in which a duration reads well."""
    return (1, "s") if seconds >= 1 or seconds == 0 else (1e3, "ms") if seconds >= 1e-3 else (1e6, "µs")


def sentence(title):
    """The title with a full stop, unless it ends with a punctuation mark."""
    return title if title[-1:] in ".!?" else f"{title}."


def capitalized(words):
    """The words with a capital first letter; the other letters stay as they are."""
    return words[:1].upper() + words[1:]


def axes_in_words(x, y, log_x=False, log_y=False):
    """What the two axes show, in two sentences."""
    return f"Horizontal axis: {_axis(x, log_x)}. Vertical axis: {_axis(y, log_y)}."


def _axis(label, is_logarithmic):
    return f"{label}, logarithmic" if is_logarithmic else label


def describe_curve(name, xs, ys, left_out=0):
    """A curve in words: its first and last point, its direction and its extremes.

    xs, ys: the points that are drawn, 1-D arrays of the same length. left_out: number of points that are not drawn.
    """
    missing = f" Points that cannot be drawn: {left_out}." if left_out else ""
    if len(xs) == 0:
        return f"{name}: nothing to draw.{missing}"
    if len(xs) == 1:
        return f"{name}: one point, {number(ys[0])} at {number(xs[0])}.{missing}"
    text = (
        f"{name}: {len(xs)} points; {_direction(ys)} from {number(ys[0])} at {number(xs[0])} "
        f"to {number(ys[-1])} at {number(xs[-1])}"
    )
    low, high = int(np.argmin(ys)), int(np.argmax(ys))
    if low not in (0, len(ys) - 1):
        text += f"; lowest value {number(ys[low])} at {number(xs[low])}"
    if high not in (0, len(ys) - 1):
        text += f"; highest value {number(ys[high])} at {number(xs[high])}"
    return f"{text}.{missing}"


def _direction(ys):
    steps = np.diff(ys)
    if np.ptp(ys) == 0:
        return "stays level"
    if (steps <= 0).all():
        return "falls throughout"
    return "rises throughout" if (steps >= 0).all() else "goes"
