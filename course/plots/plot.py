"""What all pictures share: the `Plot` object, colours and marks that every reader can tell apart, axes and lines.

Each series differs from its neighbours in colour, line style and marker, so that colour is never needed. Matplotlib is
imported inside the functions, so that importing this package does not load it, and is used without its global state.
"""

import base64
import html
import io
import textwrap

from course.plots.texts import sentence

# The palette of Okabe and Ito without its three lightest colours, which are too faint for lines on white. Its purple is
# a little darker here for the same reason.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#000000", "#B8578F"]
STYLES = ["-", "--", "-.", ":"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
HUGE = 1e250  # Matplotlib overflows when it adds margins beyond; `abs(x) < HUGE` also drops NaN and infinity
# In a dark theme of JupyterLab or VS Code, pictures are turned dark; their hues stay.
STYLE = (
    '[data-jp-theme-light="false"] .course-plot .turns,.vscode-dark .course-plot .turns'
    "{filter:invert(.93) hue-rotate(180deg)}"
)
CHARACTERS = 8.5  # of a title per inch of a figure; a longer title takes two lines
MOST_MARKERS = 12  # on one curve; more would merge into a band


class Plot:
    """A Matplotlib figure and its text twin.

    text: all that the picture shows, in sentences, the first of which is the title. see: one of these sentences, what
    to see at a glance. A notebook displays the picture with this sentence beneath it, and the others on a click.
    has_photo: whether the picture's own colours mean something, so that no dark theme may change them.
    """

    def __init__(self, figure, text, see, has_photo=False):
        self.figure, self.text, self.see, self.has_photo = figure, text, see, has_photo

    def png(self):
        """The picture as the bytes of a PNG file."""
        file = io.BytesIO()
        self.figure.savefig(file, format="png", dpi=150, facecolor="white")
        return file.getvalue()

    def __repr__(self):
        return self.text

    def _repr_mimebundle_(self, include=None, exclude=None):
        picture = base64.b64encode(self.png()).decode()
        title, see = html.escape(find_title(self.figure)), html.escape(self.see)
        width = round(self.figure.get_figwidth() * 100)
        rest = html.escape(self.text.replace(self.see, "", 1).strip())
        page = (
            f'<figure class="course-plot" style="margin:0"><style>{STYLE}</style>'
            f'<img src="data:image/png;base64,{picture}" alt="Picture: {title}" width="{width}" style="max-width:100%" '
            f'class="{"photo" if self.has_photo else "turns"}"><figcaption>{see}'
            f"<details><summary>The picture in words and numbers</summary>{rest}</details></figcaption></figure>"
        )
        return {"text/html": page, "text/plain": self.text}


def find_title(figure):
    """The title of a figure that `new_figure` or `new_axes` made."""
    return (figure.get_suptitle() or figure.axes[0].get_title()).replace("\n", " ")


def nothing_to_draw(title, reason):
    """An empty Plot that gives the reason: a clause that begins with a small letter and ends with a full stop."""
    figure, axes = new_axes("", "", title)
    axes.set_axis_off()
    axes.text(0.5, 0.5, f"Nothing to draw:\n{reason}", ha="center", va="center", fontsize=12)
    see = f"Nothing to draw: {reason}"
    return Plot(figure, f"{sentence(title)} {see}", see)


def new_figure(width, height, title, scale=1):
    """A figure of this size in inches, with room for several pictures below its title."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    figure.suptitle(textwrap.fill(title, int(width * CHARACTERS / scale)), fontsize=14 * scale)
    return figure


def new_axes(x, y, title, width=7, height=4.6, scale=1):
    """(figure, axes) of one picture; x and y label the axes. width, height: of the figure, in inches.

    scale: of the text.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(textwrap.fill(title, int(width * CHARACTERS / scale)), fontsize=14 * scale)
    axes.set_xlabel(x, fontsize=12 * scale)
    axes.set_ylabel(y, fontsize=12 * scale)
    axes.tick_params(labelsize=11 * scale)
    axes.grid(True, color="#DDDDDD", linewidth=0.8)
    axes.set_axisbelow(True)
    return figure, axes


def draw_line(axes, i, xs, ys, name, has_markers=True):
    """Draw series number i; its colour, line style and marker all differ from its neighbours'."""
    axes.plot(
        xs,
        ys,
        color=COLOURS[i % len(COLOURS)],
        linestyle=STYLES[i % len(STYLES)],
        linewidth=2,
        marker=MARKERS[i % len(MARKERS)] if has_markers else None,
        markersize=6,
        markevery=max(1, len(xs) // MOST_MARKERS),
        label=name,
    )
