"""Arrays as pictures: grey images, a photo of a scene, fields of numbers, maps of classes, and confusion matrices."""

import numpy as np

from course.plots.plot import Plot, new_axes, new_figure, nothing_to_draw
from course.plots.texts import axes_in_words, number, sentence

MOST_CLASSES = 5  # whose share a text gives, except for the first of several maps


def images(pictures, names, *, title, limits=None):
    """Draw small grey pictures side by side, five per row; large numbers stand out from the background.

    pictures: 2-D arrays. names: the titles above them. limits: the number that looks like the background, and the one
    that stands out most, for all pictures; without them the smallest and the largest number of each picture. The text
    lists the names in order, and says where the ink of each picture is. Returns a Plot. Raises ValueError unless there
    is one name per picture.
    """
    pictures = [np.asarray(picture, dtype=float) for picture in pictures]
    if len(pictures) != len(names):
        raise ValueError(f"as many names as pictures are needed: got {len(names)} and {len(pictures)}.")
    if not pictures:
        return nothing_to_draw(title, "there are no pictures.")
    columns = min(5, len(pictures))
    rows = -(-len(pictures) // columns)
    figure = new_figure(1.6 * columns + 0.4, 1.9 * rows + 0.5, title)
    count = f"{len(pictures)} picture{'s' * (len(pictures) > 1)}"
    sentences = [sentence(title), f"{count}. The larger a number, the more its pixel stands out from the background."]
    low, high = limits or (None, None)
    if limits:
        sentences[1] = f"{count}. A pixel of {low:g} looks like the background, one of {high:g} stands out most."
    for i, (picture, name) in enumerate(zip(pictures, names, strict=True)):
        axes = figure.add_subplot(rows, columns, i + 1)
        axes.imshow(picture, cmap="gray_r", vmin=low, vmax=high)
        axes.set_title(name, fontsize=11)
        axes.set_xticks([])
        axes.set_yticks([])
        background = low if limits else min(0, picture.min())
        sentences.append(f"Picture {i + 1}: {name}; {_ink(np.maximum(picture - background, 0))}.")
    return Plot(figure, " ".join(sentences), sentences[1])


def _ink(picture):
    """Where the large numbers of a picture are, in words. picture: 0 for the background, and no negative numbers."""
    total = picture.sum()
    if not total > 0:
        return "it is empty"
    upper = picture[: len(picture) // 2].sum() / total
    left = picture[:, : picture.shape[1] // 2].sum() / total
    return f"{upper:.0%} of its ink is in the upper half, {left:.0%} in the left half"


def fields(grids, names, *, xs, ys, x, y, title):
    """Draw fields of numbers side by side, three per row, each with its own scale of colours.

    grids: 2-D arrays of shape (len(ys), len(xs)). names: the titles above them. xs, ys: the evenly spaced places of the
    columns and rows; y grows upwards. x, y: what the axes show. The text gives each field's smallest and largest number
    and where they are. Returns a Plot.
    """
    columns = min(3, len(grids))
    rows = -(-len(grids) // columns)
    figure = new_figure(3.6 * columns + 0.6, 3.4 * rows + 0.6, title)
    sentences = [sentence(title), axes_in_words(x, y)]
    for i, (grid, name) in enumerate(zip(grids, names, strict=True)):
        grid = np.asarray(grid, dtype=float)
        axes = figure.add_subplot(rows, columns, i + 1)
        drawn = axes.imshow(grid, origin="lower", aspect="auto", extent=(xs[0], xs[-1], ys[0], ys[-1]), cmap="cividis")
        figure.colorbar(drawn, ax=axes)
        axes.set_title(name, fontsize=11)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        ends = []
        for word, place in (("smallest", grid.argmin()), ("largest", grid.argmax())):
            row, column = np.unravel_index(place, grid.shape)
            ends.append(f"{word} {number(grid[row, column])} at {x} = {number(xs[column])}, {y} = {number(ys[row])}")
        sentences.append(f"{name}: {', '.join(ends)}.")
    return Plot(figure, " ".join(sentences), sentences[-1])


def photo(bands, *, title):
    """Draw three bands of a scene as red, green and blue, each stretched from its 2nd to its 98th percentile.

    bands: shape (rows, columns, 3). The text gives the size of the scene, and where each colour is brightest.
    Returns a Plot.
    """
    bands = np.asarray(bands, dtype=float)
    low, high = np.percentile(bands, [2, 98], axis=(0, 1))
    figure, axes = new_axes("column", "row", title, 6, 6.3)
    axes.grid(False)
    axes.imshow(np.clip((bands - low) / np.where(high > low, high - low, 1), 0, 1))
    sentences = [sentence(title), f"{bands.shape[0]} rows of {bands.shape[1]} pixels."]
    for colour, band in zip(("red", "green", "blue"), np.moveaxis(bands, -1, 0), strict=True):
        sentences.append(f"The {colour} band is brightest in the {_brightest_quarter(band)}.")
    return Plot(figure, " ".join(sentences), sentences[1], has_photo=True)


def _brightest_quarter(band):
    """The quarter of a picture with the largest mean, in words."""
    halves = [np.array_split(half, 2, axis=1) for half in np.array_split(band, 2)]
    means = {
        f"{up} {side}": part.mean()
        for up, row in zip(("upper", "lower"), halves, strict=True)
        for side, part in zip(("left", "right"), row, strict=True)
    }
    return max(means, key=means.get)


def maps(grids, names, *, title, classes, compare=True):
    """Draw maps of classes side by side, three per row, with the number of each class written on its larger fields.

    grids: 2-D arrays of whole numbers, 0 for no class (white). names: the titles above the maps.
    classes: the name of each number, from 0 on; at most 20. The numbers on the fields tell classes apart where colours
    do not. The text gives the share of each class in the first map and the largest shares in the others, and how often
    these agree with the first map where both have a class. compare: False if the maps need not agree.
    Returns a Plot. Raises ValueError unless there is one name per map.
    """
    from matplotlib.colors import ListedColormap

    grids = [np.asarray(grid) for grid in grids]
    if len(grids) != len(names):
        raise ValueError(f"as many names as maps are needed: got {len(names)} and {len(grids)}.")
    columns = min(3, len(grids))
    rows = -(-len(grids) // columns)
    present = [c for c in range(1, len(classes)) if any((grid == c).any() for grid in grids)]
    legend_columns = min(3, 1 + columns)
    scale = max(1, columns / 2)  # a page shows a wide figure smaller
    width, height = max(6.4, 4.2 * columns), 4.3 * rows + scale * (0.25 * -(-len(present) // legend_columns) + 0.3)
    figure = new_figure(width, height, title, scale)
    colours = ListedColormap(["#FFFFFF", *class_colours(len(classes) - 1)])
    sentences = [sentence(title)]
    for i, (grid, name) in enumerate(zip(grids, names, strict=True)):
        axes = figure.add_subplot(rows, columns, i + 1)
        axes.imshow(grid, cmap=colours, vmin=-0.5, vmax=len(classes) - 0.5, interpolation="nearest")
        axes.set_title(name, fontsize=12 * scale)
        axes.tick_params(labelsize=8 * scale)
        _number_fields(axes, grid, present, 4 + 4 * scale)
        sentences.append(f"{name}: {class_shares(grid, classes, MOST_CLASSES if i else len(classes))}.")
    alike = [f"{name} {_agreement(grid, grids[0])}" for grid, name in zip(grids[1:], names[1:], strict=True)]
    if compare and alike:
        sentences.append(f"Pixels with the same class as in {names[0]}, where both maps have one: {'; '.join(alike)}.")
    _add_class_legend(figure, present, colours, classes, legend_columns, 9 * scale)
    return Plot(figure, " ".join(sentences), sentences[-1], has_photo=True)


def _number_fields(axes, grid, classes, size):
    """Write the number of each class on its larger fields. size: of the font, in points."""
    for c in classes:
        for row, column in field_centres(grid == c):
            mark = axes.text(column, row, str(c), fontsize=size, ha="center", va="center", color="#000000")
            mark.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.8})


def _agreement(grid, first):
    """How often a map has the class of the first one, where both have a class, as a percentage; "none" without any."""
    both = (first > 0) & (grid > 0) if grid.shape == first.shape else np.zeros(1, dtype=bool)
    return f"{np.mean(grid[both] == first[both]):.1%}" if both.any() else "none"


def _add_class_legend(figure, present, colours, classes, columns, size):
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=colours(c), edgecolor="#000000", linewidth=0.5, label=f"{c} {classes[c]}") for c in present
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, fontsize=size, frameon=False)


def class_colours(count):
    """`count` colours, at most 20, as RGBA tuples; they differ in lightness as well as in hue."""
    from matplotlib import colormaps

    return [colormaps["tab20"](i / 20) for i in [*range(0, 20, 2), *range(1, 20, 2)][:count]]


def field_centres(mask, smallest=60):
    """(row, column) of a pixel near the middle of each connected field of `mask` with at least `smallest` pixels."""
    from scipy import ndimage

    fields, count = ndimage.label(mask)
    sizes = np.bincount(fields.ravel(), minlength=count + 1)
    # Padding makes the edge of the scene an edge of the field.
    depth = ndimage.distance_transform_edt(np.pad(mask, 1))[1:-1, 1:-1]
    large = [field for field in range(1, count + 1) if sizes[field] >= smallest]
    return [np.unravel_index(np.argmax(np.where(fields == field, depth, 0)), mask.shape) for field in large]


def class_shares(grid, classes, most=MOST_CLASSES):
    """The `most` most frequent classes of a map, in words, with their shares of the pixels that have a class."""
    counts = np.bincount(grid.ravel(), minlength=len(classes))[1:]
    if not counts.any():
        return "no pixel has a class"
    order = [c for c in np.argsort(-counts, kind="stable") if counts[c]]
    shares = [f"{classes[c + 1]} {counts[c] / counts.sum():.1%}" for c in order[:most]]
    if len(order) > most:
        shares.append(f"{len(order) - most} others {counts[order[most:]].sum() / counts.sum():.1%}")
    return f"{counts.sum():,} pixels have a class: {', '.join(shares)}"


def matrix(counts, names, *, title):
    """Draw a confusion matrix: one row per true class, one column per predicted class, shaded by the share of the row.

    counts: shape (classes, classes). names: of the classes. Rows and columns without any pixel are left out.
    The text gives the share of each class that is predicted correctly, and the five most frequent confusions.
    Returns a Plot.
    """
    counts = np.asarray(counts)
    present = [c for c in range(len(counts)) if counts[c].any() or counts[:, c].any()]
    if not present:
        return nothing_to_draw(title, "the matrix has no pixel.")
    part = counts[np.ix_(present, present)]
    shares = part / np.maximum(part.sum(axis=1, keepdims=True), 1)
    figure, axes = new_axes("predicted class", "true class", title, 8, 7.2)
    axes.grid(False)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    axes.set_xticks(range(len(present)), [str(c) for c in present], fontsize=9)
    axes.set_yticks(range(len(present)), [f"{c} {names[c]}" for c in present], fontsize=9)
    for row, column in np.argwhere(part):
        colour = "#FFFFFF" if shares[row, column] > 0.6 else "#000000"
        axes.text(column, row, str(part[row, column]), ha="center", va="center", fontsize=7, color=colour)
    correct, confusions = _describe_matrix(counts, present, names)
    return Plot(figure, f"{sentence(title)} {correct} {confusions}", confusions)


def _describe_matrix(counts, present, names):
    """Two sentences: what is predicted correctly, and what is confused."""
    correct = [f"{names[c]} {counts[c, c] / counts[c].sum():.0%}" for c in present if counts[c].any()]
    wrong = np.where(np.eye(len(counts), dtype=bool), 0, counts)
    largest = [np.unravel_index(i, wrong.shape) for i in np.argsort(-wrong, axis=None, kind="stable")[:5]]
    confusions = [f"{names[a]} predicted as {names[b]}, {wrong[a, b]}" for a, b in largest if wrong[a, b]]
    return (
        f"Predicted correctly, by true class: {', '.join(correct)}.",
        f"Most frequent confusions: {'; '.join(confusions) or 'none'}.",
    )
