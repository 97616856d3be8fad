"""How often values occur, and how totals divide into kinds: histograms and stacked bars."""

import numpy as np

from course.plots.plot import COLOURS, Plot, new_axes, nothing_to_draw
from course.plots.texts import capitalized, number, sentence

MOST_BARS = 20
SMALL = 0.72  # the size of text in a small picture, one of several side by side
# Fill and hatch of the parts of a bar, and the colour of a number in them. Neighbours differ in lightness too.
PARTS = [
    ("#0072B2", "", "#FFFFFF"),
    ("#9CCBEA", "//", "#000000"),
    ("#E07B39", "", "#000000"),
    ("#FFFFFF", "", "#000000"),
    ("#DDDDDD", "..", "#000000"),
]


def histogram(values, *, x, y, title, ends=None, is_small=False):
    """Draw how often values of each size occur.

    values: 1-D sequence of finite numbers. x: what the values are, with the unit. y: what is counted. ends: (lowest,
    highest) value of the axis where these are known beforehand. At most 20 bars. is_small: half as wide, to stand
    beside others.
    Returns a Plot, which says so if there are no values.
    """
    values = np.asarray(values, dtype=float)
    if len(values) == 0:
        return nothing_to_draw(title, "there are no values.")
    edges, is_whole = _edges(values, ends)
    counts, _ = np.histogram(values, edges)
    size = (2.9, 2, SMALL) if is_small else (6, 3.4)
    figure, axes = new_axes(x, y, title, *size)
    axes.bar(edges[:-1], counts, np.diff(edges), align="edge", color=COLOURS[0], edgecolor="white")
    axes.grid(False, axis="x")
    axes.set_ylim(0, max(counts) * 1.08)
    axes.yaxis.get_major_locator().set_params(integer=True)
    if is_whole:
        axes.xaxis.get_major_locator().set_params(integer=True)
    see = f"{capitalized(x)}: {_describe_values(values)}."
    return Plot(figure, f"{sentence(title)} {see}", see)


def _edges(values, ends):
    """(edges of the bars, whether everything is a whole number)."""
    low, high = (values.min(), values.max()) if ends is None else (min(ends[0], *values), max(ends[1], *values))
    is_whole = (np.array([*values, low, high]) % 1 == 0).all()
    if is_whole or high == low:  # every bar holds equally many whole numbers
        width = np.ceil((high - low + 1) / MOST_BARS)
        return np.arange(low, high + width + 1, width) - 0.5, is_whole
    return np.linspace(low, high, 1 + min(MOST_BARS, max(5, len(values) // 3))), is_whole


def _describe_values(values):
    if len(values) == 1:
        return f"one value, {number(values[0])}"
    quartiles = [number(value) for value in np.quantile(values, [0.25, 0.5, 0.75])]
    return (
        f"{len(values)} values from {number(values.min())} to {number(values.max())}, mean {number(values.mean())}, "
        f"median {quartiles[1]}, middle half from {quartiles[0]} to {quartiles[2]}"
    )


def shares(rows, kinds, *, x, title, is_small=False):
    """Draw how totals divide into kinds: one bar per row, with one part per kind in the order of `kinds`.

    rows: dict from the name of a row to its counts (ints), one per kind. kinds: at most five names. x: what is counted.
    is_small: with thin bars and small text, to stand beside others.
    Returns a Plot, which says so if there is nothing to count. Raises ValueError if a row has not one count per kind.
    """
    if any(len(counts) != len(kinds) for counts in rows.values()) or len(kinds) > len(PARTS):
        raise ValueError(f"each row needs one count per kind, and there can be at most {len(PARTS)} kinds.")
    if not any(map(sum, rows.values())):
        return nothing_to_draw(title, "there is nothing to count.")
    scale = SMALL if is_small else 1
    size = (6, 1.1 + 0.22 * len(rows)) if is_small else (6, 1.9 + 0.36 * len(rows))
    figure, axes = new_axes(x, "", title, *size, scale)
    axes.grid(False, axis="y")
    _draw_parts(axes, np.array(list(rows.values())), kinds, scale)
    axes.set_yticks(range(len(rows)), list(rows), fontsize=11 * scale)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.xaxis.get_major_locator().set_params(integer=True)
    columns = len(kinds) if is_small else 2
    figure.legend(loc="outside lower center", ncols=columns, fontsize=11 * scale, frameon=False, columnspacing=1)
    sentences = [
        f"{name}: " + ", ".join(f"{count} {kind}" for kind, count in zip(kinds, counts, strict=True) if count) + "."
        for name, counts in rows.items()
        if sum(counts)
    ]
    see = f"The bars count {x}."
    return Plot(figure, " ".join([sentence(title), see, *sentences]), see)


def _draw_parts(axes, counts, kinds, scale):
    """Draw the bars, with the count written into each part that has room for it. counts: shape (rows, kinds).

    scale: of the text.
    """
    left = np.zeros(len(counts))
    for kind, part, (fill, hatch, ink) in zip(kinds, counts.T, PARTS, strict=False):
        if not part.any():
            continue
        bars = axes.barh(range(len(counts)), part, 0.74, left, color=fill, hatch=hatch, edgecolor="#1b1b1b", label=kind)
        for bar, count in zip(bars, part, strict=True):
            if count >= 0.05 * counts.sum(axis=1).max():
                box = {"facecolor": fill, "edgecolor": "none", "pad": 1}
                centre = bar.get_x() + bar.get_width() / 2, bar.get_y() + bar.get_height() / 2
                axes.text(*centre, str(count), ha="center", va="center", fontsize=10 * scale, color=ink, bbox=box)
        left += part
