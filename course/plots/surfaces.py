"""A loss over two parameters, seen from above, with the path that a run took."""

from itertools import pairwise

import numpy as np

from course.plots.plot import COLOURS, HUGE, Plot, new_axes
from course.plots.texts import number, sentence


def surface(loss, gradient, xs, ys, *, path=None, x, y, title):
    """Draw a loss over two parameters: labelled contours, arrows downhill, and the path of a run.

    loss: function of a float64 array of shape (2,), the two parameters, that returns a number.
    gradient: function of the same array that returns the gradient, shape (2,). Arrows show minus
        the gradient, the direction in which gradient descent steps; all are drawn equally long.
    xs, ys: (lowest, highest) value of the first and of the second parameter in the picture.
    path: the points that a run visited, shape (steps + 1, 2), or None.
    x, y: the names of the two parameters, with the unit.
    Returns a Plot. Raises ValueError if the loss is not finite everywhere in the window.
    """
    across, up = np.linspace(*xs, 61), np.linspace(*ys, 61)
    heights = np.array([[float(loss(np.array([u, v]))) for u in across] for v in up])
    if not np.isfinite(heights).all():
        raise ValueError("the loss is not a finite number everywhere in this window: choose a smaller one.")
    figure, axes = new_axes(x, y, title)
    path = None if path is None else np.asarray(path, dtype=float)
    _draw_contours(axes, across, up, heights, path)
    _draw_arrows(axes, gradient, xs, ys)
    row, column = np.unravel_index(np.argmin(heights), heights.shape)
    sentences = [
        f"{sentence(title)} Horizontal axis: {x}, from {number(xs[0])} to {number(xs[1])}. "
        f"Vertical axis: {y}, from {number(ys[0])} to {number(ys[1])}. Arrows point downhill and are equally long.",
        f"In this window the lowest value is {number(heights.min())}, near ({number(across[column])}, "
        f"{number(up[row])}), and the highest is {number(heights.max())}.",
    ]
    if path is not None:
        _draw_path(axes, path)
        sentences.append(_describe_path(path, loss, xs, ys))
    axes.set_xlim(*xs)
    axes.set_ylim(*ys)
    return Plot(figure, " ".join(sentences), sentences[-1])


def _draw_contours(axes, across, up, heights, path):
    low, high = heights.min(), heights.max()
    if high == low:
        return
    levels = _levels(low, high)
    contours = axes.contour(across, up, heights, levels=levels, colors="#767676", linewidths=1)
    # The innermost contours are often too small for their labels.
    places = _label_places(contours.allsegs[2:], (across[0], up[0]), (across[-1], up[-1]), path)
    for label in axes.clabel(contours, manual=places, fmt="%.4g", fontsize=10, colors="#404040") if places else []:
        label.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1})
        label.set_zorder(4)


def _label_places(lines, lowest, highest, path):
    """One point per contour, far from the path, the frame, the legend and the other labels.

    lines: the pieces of each contour, arrays of shape (points, 2). lowest, highest: corners of the window.
    """
    lowest, size = np.array(lowest), np.subtract(highest, lowest)
    taken = [np.array([[0.92, 0.85]])]  # where the legend is, as shares of the picture's width and height
    if path is not None:
        path = (path[(np.abs(path) < HUGE).all(axis=1)] - lowest) / size
        taken += [np.linspace(begin, end, 20) for begin, end in pairwise(path)] + [path]
    places = []
    for pieces in lines:
        points = (np.concatenate([np.empty((0, 2)), *pieces]) - lowest) / size
        points = points[((points > 0.07) & (points < 0.93)).all(axis=1)]
        if len(points):
            distances = np.hypot(*(points[:, None] - np.concatenate(taken)).T).min(axis=0)
            best = points[np.minimum(distances, 0.25).argmax()]
            taken.append(best[None])
            places.append(tuple(lowest + size * best))
    return places


def _levels(low, high):
    """Heights of contours, in even ratios above the lowest so that floor and walls both show; rounded if possible."""
    exact = [low + (high - low) * ratio for ratio in np.geomspace(2e-3, 0.8, 8)]
    rounded = sorted({float(f"{level:.1e}") for level in exact})
    return rounded if len(rounded) == len(exact) and rounded[0] > low and rounded[-1] < high else exact


def _draw_arrows(axes, gradient, xs, ys):
    """Draw minus the gradient on a coarse grid; all arrows are equally long on the page."""
    width, height = xs[1] - xs[0], ys[1] - ys[0]
    across = xs[0] + width * (np.arange(12) + 0.5) / 12
    up = ys[0] + height * (np.arange(9) + 0.5) / 9
    starts = np.array([(u, v) for u in across for v in up])
    down = -np.array([np.asarray(gradient(point.copy()), dtype=float) for point in starts])
    on_page = down / [width, height]
    length = np.hypot(*on_page.T)
    on_page = on_page / np.where(length > 0, length, 1)[:, None]
    step = on_page * [width, height] * 0.045
    axes.quiver(*starts.T, *step.T, angles="xy", scale_units="xy", scale=1, width=0.003, color=COLOURS[2])


def _draw_path(axes, path):
    axes.plot(
        *path[(np.abs(path) < HUGE).all(axis=1)].T,
        color=COLOURS[0],
        linewidth=1.5,
        marker="o",
        markersize=4,
        label="path",
        zorder=5,
    )
    axes.plot(*path[0], "s", markersize=11, color=COLOURS[1], label="start", zorder=6)
    axes.plot(*path[-1], "*", markersize=16, color=COLOURS[3], label="end", zorder=7)
    axes.legend(fontsize=11, framealpha=0.95)


def _describe_path(path, loss, xs, ys):
    start, end = path[0], path[-1]
    text = (
        f"The path has {len(path)} points. It begins at ({number(start[0])}, {number(start[1])}), where the value is "
        f"{number(loss(start))}, and ends at ({number(end[0])}, {number(end[1])}), where it is {number(loss(end))}."
    )
    is_inside = (path >= [xs[0], ys[0]]).all(axis=1) & (path <= [xs[1], ys[1]]).all(axis=1)
    if not is_inside.all():
        text += f" Points outside the picture: {int((~is_inside).sum())}."
    return text
