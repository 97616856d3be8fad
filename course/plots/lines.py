"""Curves, repeated runs, and data points with fitted lines."""

import numpy as np

from course.plots.plot import COLOURS, HUGE, MARKERS, Plot, draw_line, new_axes
from course.plots.texts import axes_in_words, describe_curve, number, sentence


def curves(series, *, x, y, title, log_x=False, log_y=False):
    """Draw one or more curves.

    series: dict from name to (xs, ys), two 1-D sequences of the same length. Points are left out, and counted in the
        text, where they are not finite, are beyond 1e250, or are not positive on a logarithmic axis.
    x, y: what the axes show, with the unit, for example "step" and "R (francs²)".
    Returns a Plot. Raises ValueError if the two lengths of a series differ or a series is empty.
    """
    series = _as_arrays(series)
    figure, axes = new_axes(x, y, title)
    sentences = [sentence(title), axes_in_words(x, y, log_x, log_y)]
    last = {}
    for i, (name, (xs, ys)) in enumerate(series.items()):
        is_drawn = (np.abs(xs) < HUGE) & (np.abs(ys) < HUGE)
        if log_x:
            is_drawn &= xs > 0
        if log_y:
            is_drawn &= ys > 0
        draw_line(axes, i, xs[is_drawn], ys[is_drawn], name)
        sentences.append(describe_curve(name, xs[is_drawn], ys[is_drawn], left_out=int((~is_drawn).sum())))
        if is_drawn.any():
            last[name] = ys[is_drawn][-1]
    if log_x:
        axes.set_xscale("log")
        thin_labels(axes.xaxis)
    elif all((xs == np.round(xs)).all() for xs, _ in series.values()):
        axes.xaxis.get_major_locator().set_params(integer=True)  # there is no epoch 2.5
    if log_y:
        axes.set_yscale("log")
        thin_labels(axes.yaxis)
    if len(series) > 1:
        _place_legend(figure, axes)
        sentences.append(f"Last values, from lowest to highest: {_rank(last)}.")
    return Plot(figure, " ".join(sentences), sentences[-1])


def _place_legend(figure, axes):
    """A legend inside the axes where one fits between the curves, otherwise below them."""
    legend = axes.legend(fontsize=11, framealpha=0.95)
    figure.draw_without_rendering()
    box = legend.get_window_extent()
    if any(line.get_path().transformed(line.get_transform()).intersects_bbox(box, False) for line in axes.lines):
        legend.remove()
        figure.legend(loc="outside lower center", ncols=2, fontsize=11, frameon=False)


def _rank(last):
    """The names of `last`, name -> value, from the lowest value to the highest; "a = b" where values are equal."""
    text, before = "", None
    for name in sorted(last, key=last.get):
        if before is not None:
            text += " = " if np.isclose(last[name], before, rtol=1e-9, atol=0) else "; "
        text += name
        before = last[name]
    return text


def thin_labels(axis):
    """Label 1, 2 and 5 only on a logarithmic axis of less than two decades, where Matplotlib's labels would collide."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    low, high = axis.get_view_interval()
    if high < 100 * low:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axis.set_minor_formatter(NullFormatter())


def repeats(series, *, x, y, title):
    """Draw runs that were repeated: each run as a thin line, their mean as a thick one.

    series: dict from name to (xs, runs), xs of shape (points,), runs of shape (runs, points). A point that is not
        finite in one of the runs is left out of all of them and counted in the text.
    x, y: what the axes show, with the unit.
    The text describes the mean and gives the lowest and the highest last value of the runs.
    Returns a Plot. Raises ValueError if the shapes of a series do not match, or a series is empty.
    """
    figure, axes = new_axes(x, y, title)
    sentences = [sentence(title), axes_in_words(x, y), "Each curve is the mean of its runs."]
    last = {}
    for i, (name, (xs, runs)) in enumerate(series.items()):
        xs, runs = np.asarray(xs, dtype=float), np.asarray(runs, dtype=float)
        if runs.ndim != 2 or runs.shape[1:] != xs.shape or runs.size == 0:
            raise ValueError(
                f"{name!r} needs one row per run, each as long as x: got the shapes {xs.shape} and {runs.shape}."
            )
        is_drawn = (np.abs(runs) < HUGE).all(axis=0)
        for run in runs:
            axes.plot(xs[is_drawn], run[is_drawn], color=COLOURS[i % len(COLOURS)], linewidth=0.6, alpha=0.6)
        means = runs[:, is_drawn].mean(axis=0)
        draw_line(axes, i, xs[is_drawn], means, name)
        sentences.append(describe_curve(name, xs[is_drawn], means, left_out=int((~is_drawn).sum())))
        if is_drawn.any():
            sentences.append(_describe_ends(runs[:, is_drawn][:, -1]))
            last[name] = means[-1]
    axes.xaxis.get_major_locator().set_params(integer=True)
    if len(last) > 1:
        sentences.append(f"Last values, each the mean of its runs, from lowest to highest: {_rank(last)}.")
    figure.legend(loc="outside lower center", ncols=2, fontsize=11, frameon=False)  # thin lines fill the inside
    return Plot(figure, " ".join(sentences), sentences[-1])


def _describe_ends(ends):
    if len(ends) == 1:
        return f"Its only run ends at {number(ends[0])}."
    return f"Its {len(ends)} runs end between {number(ends.min())} and {number(ends.max())}."


def scatter(points, lines=None, *, x, y, title):
    """Draw data points and the curves that were fitted to them.

    points, lines: dicts from name to (xs, ys), two 1-D sequences of the same length.
    x, y: what the axes show, with the unit.
    The text gives, for each line, its root mean square vertical distance from the points within its range of x, in the
    unit of y. Returns a Plot. Raises ValueError if the two lengths of a series differ or a series is empty.
    """
    points, lines = _as_arrays(points), _as_arrays(lines or {})
    figure, axes = new_axes(x, y, title)
    sentences = [sentence(title), axes_in_words(x, y)]
    for i, (name, (xs, ys)) in enumerate(points.items()):
        _draw_points(axes, i, xs, ys, name)
        sentences.append(
            f"{name}: {len(xs)} points, x from {number(xs.min())} to {number(xs.max())}, "
            f"y from {number(ys.min())} to {number(ys.max())}."
        )
    low, high = axes.get_ylim()
    for i, (name, (xs, ys)) in enumerate(lines.items()):
        is_drawn = (np.abs(xs) < HUGE) & (np.abs(ys) < HUGE)
        draw_line(axes, i, xs[is_drawn], ys[is_drawn], name, has_markers=False)
        sentences.append(describe_curve(name, xs[is_drawn], ys[is_drawn], left_out=int((~is_drawn).sum())))
        for group, (px, py) in points.items():
            distance = _distance(px, py, xs[is_drawn], ys[is_drawn])
            if distance is not None:
                sentences.append(
                    f'The root mean square distance from "{name}" to {group}, along y, is {number(distance)}.'
                )
    # The points set the height of the picture, so that a curve that shoots off does not squash them.
    margin = 0.15 * (high - low)
    axes.set_ylim(low - margin, high + margin)
    if len(points) + len(lines) > 1:
        axes.legend(fontsize=11, framealpha=0.95)
    return Plot(figure, " ".join(sentences), sentences[-1])


def _draw_points(axes, i, xs, ys, name):
    """Draw group i of points: small, open and grey if i is even, else large, filled and purple, unlike any line."""
    axes.plot(
        xs,
        ys,
        linestyle="none",
        marker=MARKERS[i % len(MARKERS)],
        markersize=[5, 8][i % 2],
        markerfacecolor=["none", COLOURS[4]][i % 2],
        color=["#595959", COLOURS[4]][i % 2],
        label=name,
    )


def _distance(px, py, xs, ys):
    """Root mean square vertical distance of points from a curve, over the points within its range; None without any."""
    if len(xs) < 2:
        return None
    order = np.argsort(xs)
    in_range = (px >= xs.min()) & (px <= xs.max())
    if not in_range.any():
        return None
    return np.sqrt(np.mean((py[in_range] - np.interp(px[in_range], xs[order], ys[order])) ** 2))


def _as_arrays(series):
    arrays = {}
    for name, (xs, ys) in series.items():
        xs, ys = np.asarray(xs, dtype=float), np.asarray(ys, dtype=float)
        if xs.ndim != 1 or xs.shape != ys.shape or len(xs) == 0:
            raise ValueError(
                f"{name!r} needs as many x as y values, in one dimension: got the shapes {xs.shape} and {ys.shape}."
            )
        arrays[name] = (xs, ys)
    return arrays
