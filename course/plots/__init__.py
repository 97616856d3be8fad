"""Pictures that can also be read: each function returns a `Plot` with a text from the same numbers.

Colours are safe for colour-blind readers and never alone: each series also has its own line style
and marker. Matplotlib is loaded by the first plot, not by importing this module, and is used
without its global state.
"""

import base64
import html
import io

import numpy as np

# Okabe and Ito's palette without its three lightest colours, too faint for lines on white; its
# purple is a little darker here for the same reason.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#000000", "#B8578F"]
STYLES = ["-", "--", "-.", ":"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
HUGE = 1e250  # Matplotlib overflows when it adds margins beyond; the comparison also drops NaN and infinity
# What a rank does: line colour, fill, hatch and height of its bar, and words. Any two differ in each.
DOINGS = {
    "message": ("#FFFFFF", "#0072B2", "", 0.7, "sends or receives"),
    "wait": ("#767676", "#FFFFFF", "/////", 0.28, "waits"),
    "compute": ("#A34700", "#F5B98E", "...", 0.5, "computes"),
}
# Parts of a bar: fill, hatch, and the colour of a number in it. Any two neighbours differ in lightness too.
PARTS = [
    ("#0072B2", "", "#FFFFFF"),
    ("#9CCBEA", "//", "#000000"),
    ("#E07B39", "", "#000000"),
    ("#FFFFFF", "", "#000000"),
    ("#DDDDDD", "..", "#000000"),
]
MOST_ROWS = 64  # of ranks in a timeline; of more only the busiest are drawn
NO_TIME = 1e-6  # seconds; the width of a picture in which no time passes
BUSIEST = 16  # so many of them, and so many ranks are told in the text
MOST_ARROWS = 150
MOST_BOXES = 200  # in a row that are set apart by lines
MOST_MARKERS = 12  # a longer curve gets about this many markers, so that they do not melt into a band


class Plot:
    """A Matplotlib figure and its text twin; displayed as the picture with the text beneath it."""

    def __init__(self, figure, text):
        self.figure = figure
        self.text = text

    def png(self):
        """The picture as bytes of a PNG file."""
        file = io.BytesIO()
        self.figure.savefig(file, format="png", dpi=150, facecolor="white")
        return file.getvalue()

    def __repr__(self):
        return self.text

    def _repr_mimebundle_(self, include=None, exclude=None):
        picture = base64.b64encode(self.png()).decode()
        text = html.escape(self.text)
        width = round(self.figure.get_figwidth() * 100)
        page = (
            f'<figure style="margin:0"><img src="data:image/png;base64,{picture}" alt="{text}" '
            f'width="{width}" style="max-width:100%"><figcaption>{text}</figcaption></figure>'
        )
        return {"text/html": page, "text/plain": self.text}


def curves(series, *, x, y, title, log_x=False, log_y=False):
    """Draw one or more curves.

    series: dict from name to (xs, ys), two 1-D sequences of the same length; points that are not
        finite (or beyond 1e250), or not positive on a logarithmic axis, are left out and counted in the text.
    x, y: what the axes show, with the unit, for example "step" and "R (francs²)".
    Returns a Plot. Raises ValueError when the two lengths of a series differ or a series is empty.
    """
    series = _as_arrays(series)
    figure, axes = _figure(x, y, title)
    sentences = [f"{_sentence(title)} Across: {_axis(x, log_x)}. Up: {_axis(y, log_y)}."]
    last = {}
    for i, (name, (xs, ys)) in enumerate(series.items()):
        drawn = (np.abs(xs) < HUGE) & (np.abs(ys) < HUGE)
        if log_x:
            drawn &= xs > 0
        if log_y:
            drawn &= ys > 0
        _line(axes, i, xs[drawn], ys[drawn], name)
        sentences.append(_describe_curve(name, xs[drawn], ys[drawn], left_out=int((~drawn).sum())))
        if drawn.any():
            last[name] = ys[drawn][-1]
    if log_x:
        axes.set_xscale("log")
    elif all((xs == np.round(xs)).all() for xs, _ in series.values()):
        axes.xaxis.get_major_locator().set_params(integer=True)  # there is no epoch 2.5
    if log_y:
        axes.set_yscale("log")
    if len(series) > 1:
        axes.legend(fontsize=11, framealpha=0.95)
        order = sorted(last, key=last.get)
        sentences.append("At their last points, from lowest to highest: " + ", ".join(order) + ".")
    return Plot(figure, " ".join(sentences))


def repeats(series, *, x, y, title):
    """Draw runs that were repeated: each one thin, their mean thick.

    series: dict from name to (xs, runs), xs of shape (points,), runs of shape (runs, points). A point that is not
        finite in one of the runs is left out of all of them and counted in the text.
    x, y: what the axes show, with the unit.
    The text tells the mean's course, and between what the runs end.
    Returns a Plot. Raises ValueError where the shapes of a series do not fit, or one is empty.
    """
    figure, axes = _figure(x, y, title)
    sentences = [f"{_sentence(title)} Across: {x}. Up: {y}. The mean of each:"]
    for i, (name, (xs, runs)) in enumerate(series.items()):
        xs, runs = np.asarray(xs, dtype=float), np.asarray(runs, dtype=float)
        if runs.ndim != 2 or runs.shape[1:] != xs.shape or runs.size == 0:
            raise ValueError(f"{name!r} needs a row a run, as long as x: got shapes {xs.shape} and {runs.shape}.")
        drawn = (np.abs(runs) < HUGE).all(axis=0)
        for run in runs:
            axes.plot(xs[drawn], run[drawn], color=COLOURS[i % len(COLOURS)], linewidth=0.6, alpha=0.6)
        means = runs[:, drawn].mean(axis=0)
        _line(axes, i, xs[drawn], means, name)
        sentences.append(_describe_curve(name, xs[drawn], means, left_out=int((~drawn).sum())))
        if drawn.any():
            low, high = np.sort(runs[:, drawn][:, -1])[[0, -1]]
            sentences.append(f"Its runs, {len(runs)} in number, end between {number(low)} and {number(high)}.")
    axes.xaxis.get_major_locator().set_params(integer=True)
    figure.legend(loc="outside lower center", ncols=2, fontsize=11, frameon=False)  # below: thin lines are everywhere
    return Plot(figure, " ".join(sentences))


def scatter(points, lines=None, *, x, y, title):
    """Draw data points and the curves that were fitted to them.

    points, lines: dicts from name to (xs, ys), two 1-D sequences of the same length.
    x, y: what the axes show, with the unit.
    The text gives, for each line, its root mean square vertical distance from the points that lie
    within its reach (in y's unit).
    Returns a Plot. Raises ValueError when the two lengths of a series differ or a series is empty.
    """
    points, lines = _as_arrays(points), _as_arrays(lines or {})
    figure, axes = _figure(x, y, title)
    sentences = [f"{_sentence(title)} Across: {x}. Up: {y}."]
    for i, (name, (xs, ys)) in enumerate(points.items()):
        # Small open grey marks first, large filled purple ones second: no line looks like either.
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
        sentences.append(
            f"{name}: {len(xs)} points, x from {number(xs.min())} to {number(xs.max())}, "
            f"y from {number(ys.min())} to {number(ys.max())}."
        )
    low, high = axes.get_ylim()
    for i, (name, (xs, ys)) in enumerate(lines.items()):
        drawn = (np.abs(xs) < HUGE) & (np.abs(ys) < HUGE)
        _line(axes, i, xs[drawn], ys[drawn], name, marked=False)
        sentences.append(_describe_curve(name, xs[drawn], ys[drawn], left_out=int((~drawn).sum())))
        for group, (px, py) in points.items():
            distance = _distance(px, py, xs[drawn], ys[drawn])
            if distance is not None:
                sentences.append(f"It lies {number(distance)} from {group} (root mean square).")
    # The points set the picture's height: a curve that shoots off must not squash them.
    room = 0.15 * (high - low)
    axes.set_ylim(low - room, high + room)
    if len(points) + len(lines) > 1:
        axes.legend(fontsize=11, framealpha=0.95)
    return Plot(figure, " ".join(sentences))


def images(pictures, names, *, title):
    """Draw small grey pictures side by side, dark where their numbers are large, five in a row.

    pictures: 2-D arrays. names: what stands above each.
    The text says the names in order; of each picture it tells where most of the ink is.
    Returns a Plot. Raises ValueError where there are not as many names as pictures.
    """
    from matplotlib.figure import Figure

    pictures = [np.asarray(picture, dtype=float) for picture in pictures]
    if len(pictures) != len(names):
        raise ValueError(f"as many names as pictures: got {len(names)} and {len(pictures)}.")
    if not pictures:
        return _nothing(title, "there are no pictures.")
    columns = min(5, len(pictures))
    rows = -(-len(pictures) // columns)
    figure = Figure(figsize=(1.6 * columns + 0.4, 1.9 * rows + 0.5), layout="constrained")
    figure.suptitle(title, fontsize=14)
    sentences = [_sentence(title)]
    for i, (picture, name) in enumerate(zip(pictures, names, strict=True)):
        axes = figure.add_subplot(rows, columns, i + 1)
        axes.imshow(picture, cmap="gray_r")
        axes.set_title(name, fontsize=11)
        axes.set_xticks([])
        axes.set_yticks([])
        sentences.append(f"Picture {i + 1}: {name}; {_ink(picture)}.")
    return Plot(figure, " ".join(sentences))


def photo(bands, *, title):
    """Draw three bands of a scene as red, green and blue, each stretched from its 2nd to its 98th percentile.

    bands: shape (rows, columns, 3). The text says how large the scene is, and where it is brightest in each colour.
    Returns a Plot.
    """
    bands = np.asarray(bands, dtype=float)
    low, high = np.percentile(bands, [2, 98], axis=(0, 1))
    figure, axes = _figure("column", "row", title)
    figure.set_size_inches(6, 6.3)
    axes.grid(False)
    axes.imshow(np.clip((bands - low) / np.where(high > low, high - low, 1), 0, 1))
    sentences = [f"{_sentence(title)} {bands.shape[0]} rows of {bands.shape[1]} pixels."]
    for colour, band in zip(("red", "green", "blue"), np.moveaxis(bands, -1, 0), strict=True):
        sentences.append(f"What is drawn {colour} is brightest in the {_brightest_quarter(band)}.")
    return Plot(figure, " ".join(sentences))


def _brightest_quarter(band):
    """The quarter of a picture with the largest mean, in words."""
    halves = [np.array_split(half, 2, axis=1) for half in np.array_split(band, 2)]
    means = {
        f"{up} {side}": part.mean()
        for up, row in zip(("upper", "lower"), halves, strict=True)
        for side, part in zip(("left", "right"), row, strict=True)
    }
    return max(means, key=means.get)


def maps(grids, names, *, title, classes):
    """Draw maps of classes side by side, three in a row, with each class's number written on its larger fields.

    grids: 2-D arrays of whole numbers, 0 for none (white). names: what stands above each map.
    classes: the name of each number, from 0 on; at most 20. Numbers on the fields tell apart what colours may not.
    The text gives the share of each class in the first map and of the largest in others, and how often these agree with
    the first where both have a class. Returns a Plot. Raises ValueError where there are not as many names as maps.
    """
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    grids = [np.asarray(grid) for grid in grids]
    if len(grids) != len(names):
        raise ValueError(f"as many names as maps: got {len(names)} and {len(grids)}.")
    columns = min(3, len(grids))
    rows = -(-len(grids) // columns)
    present = [c for c in range(1, len(classes)) if any((grid == c).any() for grid in grids)]
    across = min(3, 1 + columns)  # names in a row of the legend
    scale = max(1, columns / 2)  # a page shows a wide figure smaller
    size = max(6.4, 4.2 * columns), 4.3 * rows + scale * (0.25 * -(-len(present) // across) + 0.3)
    figure = Figure(figsize=size, layout="constrained")
    figure.suptitle(title, fontsize=14 * scale)
    colours = ListedColormap(["#FFFFFF", *class_colours(len(classes) - 1)])
    sentences = [_sentence(title)]
    for i, (grid, name) in enumerate(zip(grids, names, strict=True)):
        axes = figure.add_subplot(rows, columns, i + 1)
        axes.imshow(grid, cmap=colours, vmin=-0.5, vmax=len(classes) - 0.5, interpolation="nearest")
        axes.set_title(name, fontsize=12 * scale)
        axes.tick_params(labelsize=8 * scale)
        for c in present:
            for row, column in field_centres(grid == c):
                mark = axes.text(column, row, str(c), fontsize=4 + 4 * scale, ha="center", va="center", color="#000000")
                mark.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.8})
        sentences.append(f"{name}: {class_shares(grid, classes, MOST if i else len(classes))}.")
        if i and grid.shape == grids[0].shape:
            known = (grids[0] > 0) & (grid > 0)
            agree = f"{np.mean(grid[known] == grids[0][known]):.1%}" if known.any() else "none"
            sentences.append(f"Of the pixels that have a class in both, {agree} have the same as in {names[0]}.")
    handles = [
        Patch(facecolor=colours(c), edgecolor="#000000", linewidth=0.5, label=f"{c} {classes[c]}") for c in present
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=across, fontsize=9 * scale, frameon=False)
    return Plot(figure, " ".join(sentences))


MOST = 5  # classes of which the share is told, of every map but the first


def class_colours(count):
    """So many colours that differ in lightness as well as in hue."""
    from matplotlib import colormaps

    return [colormaps["tab20"](i / 20) for i in [*range(0, 20, 2), *range(1, 20, 2)][:count]]


def field_centres(where, smallest=60):
    """A pixel inside each larger connected field, near its middle: (row, column) each."""
    from scipy import ndimage

    fields, count = ndimage.label(where)
    sizes = np.bincount(fields.ravel(), minlength=count + 1)
    depth = ndimage.distance_transform_edt(np.pad(where, 1))[1:-1, 1:-1]  # the scene's edge is an edge of the field
    large = [field for field in range(1, count + 1) if sizes[field] >= smallest]
    return [np.unravel_index(np.argmax(np.where(fields == field, depth, 0)), where.shape) for field in large]


def class_shares(grid, classes, most):
    """The classes of a map, the most frequent first and not more than `most`, with their shares of what has a class."""
    counts = np.bincount(grid.ravel(), minlength=len(classes))[1:]
    if not counts.any():
        return "nothing in it has a class"
    order = [c for c in np.argsort(-counts, kind="stable") if counts[c]]
    shares = [f"{classes[c + 1]} {counts[c] / counts.sum():.1%}" for c in order[:most]]
    if len(order) > most:
        shares.append(f"{len(order) - most} others {counts[order[most:]].sum() / counts.sum():.1%}")
    return f"{counts.sum():,} pixels have a class: {', '.join(shares)}"


def matrix(counts, names, *, title):
    """Draw a confusion matrix: a row a true class, a column a class that was said, shaded by the row's share.

    counts: shape (classes, classes). names: of the classes. Rows and columns without any pixel are left out.
    The text tells each class's share of right ones, and the five largest confusions. Returns a Plot.
    """
    counts = np.asarray(counts)
    shown = [c for c in range(len(counts)) if counts[c].any() or counts[:, c].any()]
    if not shown:
        return _nothing(title, "the matrix has no pixel.")
    part = counts[np.ix_(shown, shown)]
    shares = part / np.maximum(part.sum(axis=1, keepdims=True), 1)
    figure, axes = _figure("said to be", "really", title)
    figure.set_size_inches(8, 7.2)
    axes.grid(False)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    labels = [f"{c} {names[c]}" for c in shown]
    axes.set_xticks(range(len(shown)), [str(c) for c in shown], fontsize=9)
    axes.set_yticks(range(len(shown)), labels, fontsize=9)
    for row, column in np.argwhere(part):
        colour = "#FFFFFF" if shares[row, column] > 0.6 else "#000000"
        axes.text(column, row, str(part[row, column]), ha="center", va="center", fontsize=7, color=colour)
    right = [f"{names[c]} {counts[c, c] / counts[c].sum():.0%}" for c in shown if counts[c].any()]
    wrong = np.where(np.eye(len(counts), dtype=bool), 0, counts)
    largest = [np.unravel_index(i, wrong.shape) for i in np.argsort(-wrong, axis=None, kind="stable")[:5]]
    confusions = [f"{names[a]} taken for {names[b]}, {wrong[a, b]}" for a, b in largest if wrong[a, b]]
    return Plot(
        figure,
        f"{_sentence(title)} Right, by true class: {', '.join(right)}. "
        f"Most frequent confusions: {'; '.join(confusions) or 'none'}.",
    )


def _ink(picture):
    """Where the large numbers of a picture are, in words."""
    total = picture.sum()
    if not total > 0:
        return "it is empty"
    upper = picture[: len(picture) // 2].sum() / total
    left = picture[:, : picture.shape[1] // 2].sum() / total
    return f"{upper:.0%} of its ink in the upper half, {left:.0%} in the left half"


def histogram(values, *, x, y, title, ends=None):
    """Draw how often values of each size occur.

    values: 1-D sequence of finite numbers. x: what they are, with the unit. y: whose they are. ends: (lowest, highest)
    value of the axis where these are known beforehand. At most 20 bars.
    Returns a Plot, which says so where there are no values.
    """
    values = np.asarray(values, dtype=float)
    if len(values) == 0:
        return _nothing(title, "there are no values.")
    low, high = (values.min(), values.max()) if ends is None else (min(ends[0], *values), max(ends[1], *values))
    whole = (np.array([*values, low, high]) % 1 == 0).all()
    if whole or high == low:  # bars that hold equally many whole numbers each
        width = np.ceil((high - low + 1) / 20)
        edges = np.arange(low, high + width + 1, width) - 0.5
    else:
        edges = np.linspace(low, high, 1 + min(20, max(5, len(values) // 3)))
    counts, _ = np.histogram(values, edges)
    figure, axes = _figure(x, y, title)
    figure.set_size_inches(6, 3.4)
    axes.bar(edges[:-1], counts, np.diff(edges), align="edge", color=COLOURS[0], edgecolor="white")
    axes.grid(False, axis="x")
    axes.set_ylim(0, max(counts) * 1.08)
    axes.yaxis.get_major_locator().set_params(integer=True)
    if whole:
        axes.xaxis.get_major_locator().set_params(integer=True)
    if len(values) == 1:
        return Plot(figure, f"{_sentence(title)} {_capital(x)}: one value, {number(values[0])}.")
    quarters = [number(value) for value in np.quantile(values, [0.25, 0.5, 0.75])]
    told = (
        f"{len(values)} values from {number(values.min())} to {number(values.max())}, mean {number(values.mean())}, "
        f"median {quarters[1]}, the middle half from {quarters[0]} to {quarters[2]}"
    )
    return Plot(figure, f"{_sentence(title)} {_capital(x)}: {told}.")


def shares(rows, kinds, *, x, title):
    """Draw what a number of things consists of: a bar a row, a part of it a kind, in the order of `kinds`.

    rows: dict from a row's name to how many of each kind (ints). kinds: at most five names. x: what is counted.
    Returns a Plot, which says so where there is nothing to count. Raises ValueError where a row has not a count a kind.
    """
    if any(len(counts) != len(kinds) for counts in rows.values()) or len(kinds) > len(PARTS):
        raise ValueError(f"each row needs one count for each of at most {len(PARTS)} kinds.")
    if not any(map(sum, rows.values())):
        return _nothing(title, "there is nothing to count.")
    figure, axes = _figure(x, "", title)
    figure.set_size_inches(6, 1.9 + 0.36 * len(rows))
    axes.grid(False, axis="y")
    left = np.zeros(len(rows))
    counts = np.array(list(rows.values()))
    for kind, part, (fill, hatch, ink) in zip(kinds, counts.T, PARTS, strict=False):
        if not part.any():
            continue
        bars = axes.barh(range(len(rows)), part, 0.74, left, color=fill, hatch=hatch, edgecolor="#1b1b1b", label=kind)
        for bar, count in zip(bars, part, strict=True):
            if count >= 0.05 * counts.sum(axis=1).max():  # a number in a narrower part would not fit
                box = {"facecolor": fill, "edgecolor": "none", "pad": 1}
                at = bar.get_x() + bar.get_width() / 2, bar.get_y() + bar.get_height() / 2
                axes.text(*at, str(count), ha="center", va="center", fontsize=10, color=ink, bbox=box)
        left += part
    axes.set_yticks(range(len(rows)), list(rows), fontsize=11)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.xaxis.get_major_locator().set_params(integer=True)
    figure.legend(loc="outside lower center", ncols=2, fontsize=11, frameon=False)
    told = [
        f"{name}: " + ", ".join(f"{count} {kind}" for kind, count in zip(kinds, part, strict=True) if count) + "."
        for name, part in rows.items()
        if sum(part)
    ]
    return Plot(figure, " ".join([_sentence(title), f"Counted: {x}.", *told]))


def surface(loss, gradient, xs, ys, *, path=None, x, y, title):
    """Draw a loss over two parameters: labelled contours, arrows downhill, and the path of a run.

    loss: function of a float64 array of shape (2,), the two parameters, that returns a number.
    gradient: function of the same array that returns the gradient, shape (2,). Arrows show minus
        the gradient, the direction in which gradient descent steps, all drawn equally long.
    xs, ys: (lowest, highest) value of the first and of the second parameter in the picture.
    path: the points that a run visited, shape (steps + 1, 2), or None.
    x, y: the two parameters' names, with the unit.
    Returns a Plot. Raises ValueError when the loss is infinite or not a number in the window.
    """
    across, up = np.linspace(*xs, 61), np.linspace(*ys, 61)
    heights = np.array([[float(loss(np.array([u, v]))) for u in across] for v in up])
    if not np.isfinite(heights).all():
        raise ValueError("the loss is not a finite number everywhere in this window: choose a smaller one.")
    figure, axes = _figure(x, y, title)
    low, high = heights.min(), heights.max()
    if high > low:
        levels = _levels(low, high)
        contours = axes.contour(across, up, heights, levels=levels, colors="#767676", linewidths=1)
        # The innermost contours are often too small for their labels.
        for label in axes.clabel(contours, levels[2:], fmt="%.4g", fontsize=10, colors="#404040"):
            label.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1})
            label.set_zorder(4)
    _arrows(axes, gradient, xs, ys)

    row, column = np.unravel_index(np.argmin(heights), heights.shape)
    sentences = [
        f"{_sentence(title)} Across: {x}, {number(xs[0])} to {number(xs[1])}. Up: {y}, {number(ys[0])} to "
        f"{number(ys[1])}. In this window the loss is lowest, {number(low)}, near "
        f"({number(across[column])}, {number(up[row])}), and highest, {number(high)}. Arrows point "
        "downhill; all are drawn equally long."
    ]
    if path is not None:
        path = np.asarray(path, dtype=float)
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
        sentences.append(_describe_path(path, loss, xs, ys))
    axes.set_xlim(*xs)
    axes.set_ylim(*ys)
    return Plot(figure, " ".join(sentences))


def timeline(trace):
    """Draw what each rank did when: a row a rank, rank 0 on top; messages as arrows where they are few.

    trace: a `course.comm.trace.Trace`. Of more than 64 ranks those 16 are drawn that sent or received most bytes.
    What the run's end cut off goes on to the right edge. The end that the alpha-beta model predicts is a line, where
    the network's numbers are known and the run ended well.
    Returns a Plot, which says so where there is nothing to draw.
    """
    title = f"What {trace.ranks} {trace.carrier} rank{'s' * (trace.ranks > 1)} did when"
    if not trace.full:
        return _nothing(title, "no times were kept, only counts.")
    ranks = _shown_ranks(trace)
    spans = [span for span in trace.spans() if span.rank in ranks]
    failed = any(doing != "returned" for doing, _ in trace.endings)
    if not spans and not failed:
        return _nothing(title, "nothing was sent, and nothing took time.")
    predicted = trace.predict() if trace.alpha is not None and len(trace.step_bytes) and not failed else None
    figure = _draw_timeline(trace, ranks, spans, predicted, failed, title)
    return Plot(figure, _describe_timeline(trace, ranks, spans, predicted, failed, title))


def devices(operations, *, title):
    """Draw which device computed when: a row a device, a bar an operation.

    operations: dicts with "device", "kind", "start" and "end" (seconds), as `course.keras.trace` gives them.
    The text tells of each device how many operations it ran, for how long at least one was running, and which kind took
    longest; then for how long more than one device computed. Returns a Plot, which says so where there is nothing.
    """
    if not operations:
        return _nothing(title, "no operation ran.")
    names = sorted({each["device"] for each in operations})
    first, last = min(each["start"] for each in operations), max(each["end"] for each in operations)
    seconds = last - first or NO_TIME
    scale, unit = _unit(seconds)
    figure, axes = _figure(f"time ({unit})", "", title)
    figure.set_size_inches(8, 1.5 + 0.45 * len(names))
    axes.grid(False, axis="y")
    sentences = [f"{_sentence(title)} From the first start to the last end: {duration(seconds)}."]
    edges = []
    for row, name in enumerate(names):
        mine = [each for each in operations if each["device"] == name]
        bars = _together([(each["start"], each["end"]) for each in mine])
        edges += [(start, 1) for start, _ in bars] + [(end, -1) for _, end in bars]
        shown = [((start - first) * scale, (end - start) * scale) for start, end in bars]
        axes.broken_barh(shown, (row - 0.3, 0.6), color=COLOURS[row % len(COLOURS)], linewidth=0.5)
        took = {}
        for each in mine:
            took[each["kind"]] = took.get(each["kind"], 0) + each["end"] - each["start"]
        longest = max(took, key=took.get)
        sentences.append(
            f"{name}: {len(mine)} operation{'s' * (len(mine) > 1)}, busy for "
            f"{duration(sum(end - start for start, end in bars))}, most of it in {longest}."
        )
    axes.set_xlim(0, seconds * scale)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), names, fontsize=11)
    busy, since, together = 0, 0.0, 0.0
    for at, change in sorted(edges):
        together += (at - since) * (busy > 1)
        busy, since = busy + change, at
    if len(names) > 1:
        sentences.append(f"More than one device computed for {duration(together)}.")
    return Plot(figure, " ".join(sentences))


def _together(intervals):
    """Intervals, joined where they touch or overlap, in order."""
    joined = []
    for start, end in sorted(intervals):
        if joined and start <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([start, end])
    return joined


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
    scale, unit = _unit(seconds)
    return f"{number(seconds * scale)} {unit}"


def _unit(seconds):
    """(units a second, unit) in which so many seconds read well."""
    return (1, "s") if seconds >= 1 or seconds == 0 else (1e3, "ms") if seconds >= 1e-3 else (1e6, "µs")


def _figure(x, y, title):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.6), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title, fontsize=14)
    axes.set_xlabel(x, fontsize=12)
    axes.set_ylabel(y, fontsize=12)
    axes.tick_params(labelsize=11)
    axes.grid(True, color="#DDDDDD", linewidth=0.8)
    axes.set_axisbelow(True)
    return figure, axes


def _line(axes, i, xs, ys, name, marked=True):
    """The i-th series: its colour, line style and marker all differ from its neighbours'."""
    axes.plot(
        xs,
        ys,
        color=COLOURS[i % len(COLOURS)],
        linestyle=STYLES[i % len(STYLES)],
        linewidth=2,
        marker=MARKERS[i % len(MARKERS)] if marked else None,
        markersize=6,
        markevery=max(1, len(xs) // MOST_MARKERS),
        label=name,
    )


def _nothing(title, reason):
    figure, axes = _figure("", "", title)
    axes.set_axis_off()
    axes.text(0.5, 0.5, f"Nothing to draw:\n{reason}", ha="center", va="center", fontsize=12)
    return Plot(figure, f"{_sentence(title)} Nothing to draw: {reason}")


def _shown_ranks(trace):
    """The ranks that a timeline shows, in order."""
    if trace.ranks <= MOST_ROWS:
        return list(range(trace.ranks))
    order = np.argsort(-np.maximum(trace.bytes_sent, trace.bytes_received), kind="stable")
    return sorted(order[:BUSIEST].tolist())


def _draw_timeline(trace, ranks, spans, predicted, failed, title):
    right = _right_edge(trace, spans, predicted)
    scale, unit = _unit(right)
    figure, axes = _figure(f"time ({unit})", "", title)
    figure.set_size_inches(8, 2 + 0.45 * min(len(ranks), 8) + 0.125 * max(len(ranks) - 8, 0))
    axes.grid(False, axis="y")
    row_of = {rank: row for row, rank in enumerate(ranks)}
    _draw_spans(axes, spans, row_of, right, scale)
    arrows = _arrows_of(trace, spans, row_of)
    for arrow in arrows:
        _draw_arrow(axes, *arrow, scale)
    axes.set_xlim(0, right * scale)
    if right == NO_TIME:
        axes.set_xticks([0])
    axes.set_ylim(len(ranks) - 0.4, -0.6)
    size = 11 if len(ranks) <= 8 else 9 if len(ranks) <= 32 else 7
    axes.set_yticks(range(len(ranks)), [f"rank {rank}" for rank in ranks], fontsize=size)
    for rank in ranks if failed else ():
        colour = "#666666" if trace.endings[rank][0] == "returned" else "#000000"
        axes.text(right * scale, row_of[rank], f" {_ending(trace, rank)}", va="center", fontsize=size, color=colour)
    handles = _legend(axes, spans, arrows)
    if predicted is not None:
        label = f"predicted without computing: {duration(predicted)}"
        handles.append(axes.axvline(predicted * scale, color="#000000", linestyle="--", linewidth=1.5, label=label))
    figure.legend(handles=handles, loc="outside lower center", ncols=5, fontsize=9, frameon=False)
    return figure


def _right_edge(trace, spans, predicted):
    """Where a timeline ends, in seconds: at the last thing that came to an end, and beyond it for what did not."""
    ended = [span.end if span.done else span.start for span in spans]
    ended += [at for doing, at in trace.endings if doing in ("returned", "raised")]
    last = max([*ended, predicted or 0.0])
    return last * (1.02 if all(span.done for span in spans) else 1.3) or NO_TIME


def _draw_spans(axes, spans, row_of, right, scale):
    from matplotlib.collections import PolyCollection

    for kind, (colour, fill, hatch, height, _) in DOINGS.items():
        boxes = []
        for span in spans:
            if span.kind == kind:
                left, end, row = span.start * scale, (span.end if span.done else right) * scale, row_of[span.rank]
                low, high = row + height / 2, row - height / 2
                boxes.append([(left, low), (left, high), (end, high), (end, low)])
        lines = 0.7 if len(boxes) <= MOST_BOXES * len(row_of) else 0.0  # they would hide what they are to set apart
        axes.add_collection(PolyCollection(boxes, facecolor=fill, edgecolor=colour, hatch=hatch, linewidth=lines))


def _arrows_of(trace, spans, row_of):
    """The messages between the ranks shown, as (row, when it set out, row, when it was there) each.

    None where they would hide everything. A trace has the sender's times; where the dest was done with a message before
    its sender knew of it, an arrow ends with the dest.
    """
    messages = trace.messages[np.isin(trace.messages["source"], list(row_of))]
    messages = messages[np.isin(messages["dest"], list(row_of))]
    if len(messages) > MOST_ARROWS:
        return []
    arrows = []
    for source, dest, began, end in messages[["source", "dest", "began", "end"]].tolist():
        ends = {span.end for span in spans if span.rank == dest and span.kind == "message" and began < span.end <= end}
        arrows.append((row_of[source], began, row_of[dest], end if end in ends else min(ends, default=end)))
    return arrows


def _draw_arrow(axes, source, began, dest, end, scale):
    """An arrow from the edge of the source's bar to that of the dest's."""
    way = np.sign(dest - source) * DOINGS["message"][3] / 2
    axes.annotate(
        "",
        (end * scale, dest - way),
        (began * scale, source + way),
        arrowprops={"arrowstyle": "-|>", "color": "#000000", "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0},
        zorder=5,
    )


def _legend(axes, spans, arrows):
    """What the marks in a timeline mean, those that are there."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    present = {span.kind for span in spans}
    handles = [
        Patch(facecolor=fill, edgecolor=colour, hatch=hatch, label=words)
        for kind, (colour, fill, hatch, _, words) in DOINGS.items()
        if kind in present
    ]
    if len(arrows):
        handles.append(Line2D([], [], color="#000000", linewidth=0.9, marker=">", label="message"))
    return handles


def _ending(trace, rank):
    """What a rank was doing when a run that failed came to its end, in a few words."""
    doing = trace.endings[rank][0]
    unfinished = trace.calls[(trace.calls["rank"] == rank) & ~trace.calls["done"]]
    if doing != "waits" or not len(unfinished):
        return {"ready": "could go on"}.get(doing, doing)
    op, peer = unfinished[-1]["op"], unfinished[-1]["peer"]
    return {"send": f"waits: send to {peer}", "recv": f"waits: recv from {peer}"}.get(op, f"waits: {op}")


def _describe_timeline(trace, ranks, spans, predicted, failed, title):
    sentences = [_sentence(title)]
    way = "failed after" if failed else "took"
    sentences.append(f"The run {way} {duration(trace.seconds)}.")
    if predicted is not None:
        sentences.append(
            f"The alpha-beta model predicts {duration(predicted)} for its {len(trace.step_bytes)} steps, computing not "
            "counted."
        )
    if len(ranks) < trace.ranks:
        sentences.append(f"Drawn: the {len(ranks)} ranks that sent or received most bytes.")
    told = {}
    for rank in ranks:
        its_spans = [span for span in spans if span.rank == rank]
        told.setdefault(_describe_rank(trace, rank, its_spans, failed), []).append(rank)
    sentences += [f"{_names(group)}: {text}." for text, group in list(told.items())[:BUSIEST]]
    if len(told) > BUSIEST:
        sentences.append("The other ranks are in the picture only.")
    sentences.append(_longest_wait(spans))
    return " ".join(filter(None, sentences))


def _names(ranks):
    """'Rank 2', 'Ranks 0, 2' or 'Ranks 1 to 4, 7': of numbers in order."""
    groups = []
    for rank in ranks:
        if groups and groups[-1][1] == rank - 1:
            groups[-1][1] = rank
        else:
            groups.append([rank, rank])
    words = [str(a) if a == b else f"{a} and {b}" if b == a + 1 else f"{a} to {b}" for a, b in groups]
    return f"Rank{'s' * (len(ranks) > 1)} {', '.join(words)}"


def _describe_rank(trace, rank, spans, failed):
    text = f"messages: {trace.messages_sent[rank]} sent, {trace.messages_received[rank]} received"
    for kind, words in {"message": "with messages", "wait": "waiting", "compute": "computing"}.items():
        seconds = sum(span.end - span.start for span in spans if span.kind == kind)
        text += f", {duration(seconds)} {words}" if seconds else ""
    return f"{text}; at the end: {_ending(trace, rank)}" if failed else text


def _longest_wait(spans):
    """Who waited longest for whom."""
    waits = {}
    for span in spans:
        if span.kind == "wait" and span.peer >= 0:
            waits[span.rank, span.peer] = waits.get((span.rank, span.peer), 0) + span.end - span.start
    if not any(waits.values()):
        return ""
    (rank, peer), seconds = max(waits.items(), key=lambda wait: wait[1])
    return f"The longest wait was rank {rank}'s for rank {peer}: {duration(seconds)} in all."


def _levels(low, high):
    """Heights of contours: even ratios above the lowest, so that floor and walls both show; short where possible."""
    exact = [low + (high - low) * ratio for ratio in np.geomspace(2e-3, 0.8, 8)]
    short = sorted({float(f"{level:.1e}") for level in exact})
    return short if len(short) == len(exact) and short[0] > low and short[-1] < high else exact


def _arrows(axes, gradient, xs, ys):
    """Minus the gradient on a coarse grid, each arrow as long as the others on the page."""
    width, height = xs[1] - xs[0], ys[1] - ys[0]
    across = xs[0] + width * (np.arange(12) + 0.5) / 12
    up = ys[0] + height * (np.arange(9) + 0.5) / 9
    at = np.array([(u, v) for u in across for v in up])
    down = -np.array([np.asarray(gradient(point.copy()), dtype=float) for point in at])
    on_page = down / [width, height]
    length = np.hypot(*on_page.T)
    on_page = on_page / np.where(length > 0, length, 1)[:, None]
    step = on_page * [width, height] * 0.045
    axes.quiver(
        *at.T,
        *step.T,
        angles="xy",
        scale_units="xy",
        scale=1,
        width=0.003,
        color=COLOURS[2],
    )


def _as_arrays(series):
    arrays = {}
    for name, (xs, ys) in series.items():
        xs, ys = np.asarray(xs, dtype=float), np.asarray(ys, dtype=float)
        if xs.ndim != 1 or xs.shape != ys.shape or len(xs) == 0:
            raise ValueError(
                f"{name!r} needs as many x as y values, in one dimension: got shapes {xs.shape} and {ys.shape}."
            )
        arrays[name] = (xs, ys)
    return arrays


def _sentence(title):
    return title if title[-1:] in ".!?" else f"{title}."


def _capital(words):
    return words[:1].upper() + words[1:]


def _axis(label, logarithmic):
    return f"{label}, logarithmic" if logarithmic else label


def _describe_curve(name, xs, ys, left_out):
    missing = f" Left out as not drawable: {left_out}." if left_out else ""
    if len(xs) == 0:
        return f"{name}: nothing to draw.{missing}"
    if len(xs) == 1:
        return f"{name}: one point, {number(ys[0])} at {number(xs[0])}.{missing}"
    steps = np.diff(ys)
    way = "goes"
    if np.ptp(ys) == 0:
        way = "stays level"
    elif (steps <= 0).all():
        way = "falls all the way"
    elif (steps >= 0).all():
        way = "rises all the way"
    low, high = int(np.argmin(ys)), int(np.argmax(ys))
    text = (
        f"{name}: {len(xs)} points; {way} from {number(ys[0])} at {number(xs[0])} "
        f"to {number(ys[-1])} at {number(xs[-1])}"
    )
    if low not in (0, len(ys) - 1):
        text += f"; lowest {number(ys[low])} at {number(xs[low])}"
    if high not in (0, len(ys) - 1):
        text += f"; highest {number(ys[high])} at {number(xs[high])}"
    return f"{text}.{missing}"


def _describe_path(path, loss, xs, ys):
    start, end = path[0], path[-1]
    text = (
        f"The path goes through {len(path)} points, from ({number(start[0])}, {number(start[1])}), loss "
        f"{number(loss(start))}, to ({number(end[0])}, {number(end[1])}), loss {number(loss(end))}."
    )
    inside = (path >= [xs[0], ys[0]]).all(axis=1) & (path <= [xs[1], ys[1]]).all(axis=1)
    if not inside.all():
        text += f" {int((~inside).sum())} of its points lie outside the picture."
    return text


def _distance(px, py, xs, ys):
    """Root mean square vertical distance from the curve, over the points within its reach."""
    if len(xs) < 2:
        return None
    order = np.argsort(xs)
    spanned = (px >= xs.min()) & (px <= xs.max())
    if not spanned.any():
        return None
    return np.sqrt(np.mean((py[spanned] - np.interp(px[spanned], xs[order], ys[order])) ** 2))
