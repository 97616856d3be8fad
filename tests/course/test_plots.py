"""A plot says in words what it shows, and looks right without colours."""

import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

from course import plots


def bowl(theta):
    return float(theta[0] ** 2 + 10 * theta[1] ** 2)


def bowl_gradient(theta):
    return np.array([2 * theta[0], 20 * theta[1]])


def a_plot_of_each_kind():
    path = np.array([[3.0, 1.0], [1.5, -0.5], [0.3, 0.1]])
    return [
        plots.curves({"fast": ([0, 1, 2], [9, 3, 1])}, x="step", y="R", title="Loss"),
        plots.scatter({"data": ([1, 2], [3, 4])}, x="x (m)", y="y (s)", title="Points"),
        plots.surface(bowl, bowl_gradient, (-4, 4), (-2, 2), path=path, x="m", y="b", title="Bowl"),
    ]


def test_importing_the_module_does_not_load_matplotlib():
    code = "import sys; import course.plots; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("plot", a_plot_of_each_kind(), ids=["curves", "scatter", "surface"])
def test_a_notebook_shows_a_figure_with_its_text_as_caption_and_as_alternative_text(plot):
    bundle = plot._repr_mimebundle_()
    assert bundle["text/plain"] == plot.text == repr(plot)
    page = bundle["text/html"]
    assert page.startswith("<figure") and page.endswith("</figcaption></figure>")
    assert page.count(plots.html.escape(plot.text)) == 2
    assert plot.png().startswith(b"\x89PNG")


def test_a_text_with_markup_characters_cannot_break_the_page():
    plot = plots.curves({'a<b "c"': ([0, 1], [1, 2])}, x="x", y="y", title="<script>")
    assert "<script>" not in plot._repr_mimebundle_()["text/html"]


def test_curves_are_told_by_start_end_extremes_and_order():
    xs = [0, 1, 2, 3]
    series = {"falling": (xs, [8, 4, 2, 1]), "dipping": (xs, [7, 0.5, 9, 3]), "flat": (xs, [5] * 4)}
    text = plots.curves(series, x="step", y="R (francs²)", title="Loss", log_y=True).text
    assert "Up: R (francs²), logarithmic" in text
    assert "falling: 4 points; falls all the way from 8 at 0 to 1 at 3." in text
    assert "dipping: 4 points; goes from 7 at 0 to 3 at 3; lowest 0.5 at 1; highest 9 at 2." in text
    assert "flat: 4 points; stays level" in text
    assert text.endswith("from lowest to highest: falling, dipping, flat.")


def test_a_run_that_diverged_is_drawn_as_far_as_it_goes_without_a_warning():
    ys = [1.0, 1e200, 1e249, 1e308, np.inf, np.nan]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for log_y in (False, True):
            plot = plots.curves({"R": (range(6), ys)}, x="step", y="R", title="Loss", log_y=log_y)
            plot.png()
    assert "3 points; rises all the way from 1 at 0 to 1.000e+249 at 2." in plot.text
    assert "Left out as not drawable: 3." in plot.text


def test_values_that_a_logarithmic_axis_cannot_show_are_counted():
    plot = plots.curves({"R": ([0, 1, 2], [0, -1, 5])}, x="x", y="y", title="t", log_y=True)
    assert "R: one point, 5 at 2. Left out as not drawable: 2." in plot.text
    plot = plots.curves({"R": ([0], [0])}, x="x", y="y", title="t", log_y=True)
    assert "nothing to draw" in plot.text
    plot.png()


def test_no_two_of_ten_curves_share_line_style_marker_and_colour():
    series = {str(i): ([0, 1], [i, i]) for i in range(10)}
    figure = plots.curves(series, x="x", y="y", title="t").figure
    lines = figure.axes[0].get_lines()
    looks = {(line.get_linestyle(), line.get_marker()) for line in lines}
    assert len(looks) == 10


def _luminance(colour):
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("colour", plots.COLOURS)
def test_lines_stand_out_from_white_by_three_to_one(colour):
    assert 1.05 / (_luminance(colour) + 0.05) >= 3


def test_a_fitted_line_is_told_with_its_distance_from_the_points():
    points = {"households": ([0, 1, 2], [1, 0, 1])}
    text = plots.scatter(points, {"line": ([0, 2], [0, 0])}, x="x", y="y", title="Fit").text
    assert "households: 3 points, x from 0 to 2, y from 0 to 1." in text
    assert "It lies 0.8165 from households (root mean square)." in text  # sqrt(2/3)


def test_a_curve_that_shoots_off_does_not_squash_the_points():
    points = {"data": (np.arange(5), np.arange(5))}
    wild = {"degree 9": (np.linspace(0, 4, 50), 1e6 * np.linspace(-1, 1, 50))}
    figure = plots.scatter(points, wild, x="x", y="y", title="Over-fitting").figure
    low, high = figure.axes[0].get_ylim()
    assert low > -3 and high < 7


def test_a_surface_tells_its_lowest_point_and_the_path():
    text = a_plot_of_each_kind()[2].text
    assert "lowest, 0, near (0, 0)" in text
    assert "The path goes through 3 points, from (3, 1), loss 19, to (0.3, 0.1), loss 0.19." in text


def test_a_surface_says_when_the_path_leaves_the_picture():
    path = np.array([[0.5, 0.5], [9.0, 9.0]])
    plot = plots.surface(bowl, bowl_gradient, (-1, 1), (-1, 1), path=path, x="m", y="b", title="Bowl")
    assert "1 of its points lie outside the picture." in plot.text
    assert plot.figure.axes[0].get_xlim() == (-1, 1)


def test_a_path_that_ran_away_is_drawn_as_far_as_it_goes():
    path = np.array([[0.5, 0.5], [9.0, 9.0], [1e300, -1e300], [np.inf, np.nan]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot = plots.surface(bowl, bowl_gradient, (-1, 1), (-1, 1), path=path, x="m", y="b", title="Bowl")
        plot.png()
    assert "to (infinity, not a number)" in plot.text
    assert "3 of its points lie outside the picture." in plot.text


def test_a_flat_surface_is_drawn_too():
    plot = plots.surface(lambda t: 1.0, lambda t: np.zeros(2), (0, 1), (0, 1), x="m", y="b", title="Flat")
    plot.png()


def test_a_surface_that_overflows_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="choose a smaller one"):
        plots.surface(lambda t: np.inf, bowl_gradient, (0, 1), (0, 1), x="m", y="b", title="Cliff")


def test_lengths_that_differ_are_refused_with_the_series_name():
    with pytest.raises(ValueError, match=re.escape("'R' needs as many x as y values")):
        plots.curves({"R": ([1, 2, 3], [1, 2])}, x="x", y="y", title="t")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1234.5, "1,234"),
        (100000, "100,000"),
        (0.5678, "0.5678"),
        (-3.5, "-3.5"),
        (1.2346e9, "1.235e+09"),
        (np.nan, "not a number"),
        (-np.inf, "minus infinity"),
    ],
)
def test_numbers_read_well(value, text):
    assert plots.number(value) == text
