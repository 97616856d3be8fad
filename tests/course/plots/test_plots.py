"""A plot says in words what it shows, and looks right without colours."""

import html
import io
import itertools
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

from course import plots
from course.comm import Simulated, Slow
from course.comm.recorder import Recorder
from course.comm.trace import Trace
from course.plots.plot import COLOURS
from course.plots.timelines import ACTIVITIES
from course.spmd import RunFailed, spmd


def bowl(theta):
    return float(theta[0] ** 2 + 10 * theta[1] ** 2)


def bowl_gradient(theta):
    return np.array([2 * theta[0], 20 * theta[1]])


OPERATIONS = [
    {"device": device, "kind": kind, "name": "layer", "start": start, "end": end}
    for device, kind, start, end in [
        ("GPU:1", "MatMul", 8, 11),
        ("CPU:0", "Send", 2, 3),
        ("GPU:1", "Tanh", 2, 4),
        ("GPU:1", "MatMul", 3, 6),
        ("GPU:0", "MatMul", 5, 9),
    ]
]


FIELDS = np.array([[1, 1, 0], [2, 2, 0]])


def a_plot_of_each_kind():
    path = np.array([[3.0, 1.0], [1.5, -0.5], [0.3, 0.1]])
    return [
        plots.curves({"fast": ([0, 1, 2], [9, 3, 1])}, x="step", y="R", title="Loss"),
        plots.scatter({"data": ([1, 2], [3, 4])}, x="x (m)", y="y (s)", title="Points"),
        plots.surface(bowl, bowl_gradient, (-4, 4), (-2, 2), path=path, x="m", y="b", title="Bowl"),
        plots.images([np.eye(4), np.tri(4)], ["meant 1, read 7", "meant 4, read 9"], title="Misread"),
        plots.devices(OPERATIONS, title="Where"),
        plots.repeats({"five": ([1, 2], [[9, 3], [7, 5]])}, x="epoch", y="error (%)", title="Seeds"),
        plots.histogram([1, 2, 2, 5], x="points", y="hand-ins", title="Points"),
        plots.shares({"add": (3, 1), "descend": (0, 4)}, ["full", "empty"], x="hand-ins", title="Tasks"),
        plots.photo(np.arange(48).reshape(4, 4, 3), title="Scene"),
        plots.training([0, 5, 10], [9.6, 40, 71], 15 * np.roll(np.eye(4, dtype=int), 1, axis=1)),
        plots.maps([FIELDS, FIELDS[::-1]], ["truth", "mine"], title="Maps", classes=["none", "corn", "oats"]),
        plots.fields([np.eye(3), -np.eye(3)], ["A", "u"], xs=[0, 1, 2], ys=[0, 5, 9], x="x", y="t", title="Fields"),
        plots.film([0, 0.5], {"wave": ([0, 1, 2], [[0, 1, 0], [0, 0, 3]])}, x="x", y="p", title="Wave"),
        plots.matrix([[5, 1], [0, 3]], ["corn", "oats"], title="Confusion"),
        plots.exchange([("chief", "worker", "rows"), ("worker", "ps", "gradient")], title="A step"),
    ]


def test_importing_the_module_does_not_load_matplotlib():
    code = "import sys; import course.plots; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("plot", a_plot_of_each_kind(), ids=lambda plot: plot.text.split(".")[0])
def test_a_notebook_shows_one_sentence_below_the_picture_and_the_others_on_a_click(plot):
    bundle = plot._repr_mimebundle_()
    assert bundle["text/plain"] == plot.text == repr(plot)
    page = bundle["text/html"]
    assert page.startswith("<figure") and page.endswith("</details></figcaption></figure>")
    assert plot.see in plot.text and plot.see.endswith(".") and len(plot.see) < 400
    caption, details = page.partition("<figcaption>")[2].split("<details>")
    assert caption == html.escape(plot.see)
    rest = details.partition("</summary>")[2].removesuffix("</details></figcaption></figure>")
    assert rest and sorted((html.unescape(rest) + " " + plot.see).split()) == sorted(plot.text.split())
    alternative, *_ = re.findall(r'alt="([^"]*)"', page)
    assert alternative not in ("", html.escape(plot.see)) and len(alternative) < 100
    assert plot.png().startswith(b"\x89PNG")


def test_a_text_with_markup_characters_cannot_break_the_page():
    plot = plots.curves({'a<b "c"': ([0, 1], [1, 2])}, x="x", y="y", title="<script>")
    assert "<script>" not in plot._repr_mimebundle_()["text/html"]


def test_the_text_of_curves_gives_their_ends_extremes_and_order():
    xs = [0, 1, 2, 3]
    series = {"falling": (xs, [8, 4, 2, 1]), "dipping": (xs, [7, 0.5, 9, 3]), "flat": (xs, [5] * 4)}
    text = plots.curves(series, x="step", y="R (francs²)", title="Loss", log_y=True).text
    assert "Vertical axis: R (francs²), logarithmic" in text
    assert "falling: 4 points; falls throughout from 8 at 0 to 1 at 3." in text
    assert "dipping: 4 points; goes from 7 at 0 to 3 at 3; lowest value 0.5 at 1; highest value 9 at 2." in text
    assert "flat: 4 points; stays level" in text
    assert text.endswith("Last values, from lowest to highest: falling; dipping; flat.")
    equal = {"late": ([0, 1], [5, 2]), "flat": ([0, 1], [2, 2]), "high": ([0, 1], [3, 3])}
    assert plots.curves(equal, x="step", y="R", title="Loss").text.endswith("highest: late = flat; high.")


def test_the_text_of_repeated_runs_gives_their_mean_and_where_they_end():
    runs = [[9, 3, 1], [7, 5, 2], [8, 4, 6]]
    plot = plots.repeats({"a": ([1, 2, 3], runs), "b": ([1], [[4]])}, x="epoch", y="error (%)", title="Seeds")
    assert "a: 3 points; falls throughout from 8 at 1 to 3 at 3. Its 3 runs end between 1 and 6." in plot.text
    assert "b: one point, 4 at 1. Its only run ends at 4." in plot.text
    widths = [line.get_linewidth() for line in plot.figure.axes[0].lines]
    assert widths == [0.6, 0.6, 0.6, 2, 0.6, 2]


def test_a_point_that_overflowed_in_one_of_the_runs_is_left_out_of_all():
    plot = plots.repeats({"a": ([1, 2], [[9, np.nan], [7, 5]])}, x="epoch", y="error", title="Seeds")
    assert "a: one point, 8 at 1. Points that cannot be drawn: 1. Its 2 runs end between 7 and 9." in plot.text


def test_repeated_runs_without_one_row_per_run_are_refused():
    with pytest.raises(ValueError, match="'a' needs one row per run"):
        plots.repeats({"a": ([1, 2], [3, 4])}, x="x", y="y", title="T")


def test_an_axis_of_whole_numbers_is_marked_in_whole_numbers():
    epochs = plots.curves({"R": (range(1, 21), range(20))}, x="epochs", y="R", title="T").figure.axes[0]
    assert all(tick == round(tick) for tick in epochs.get_xticks())
    halves = plots.curves({"R": ([0, 0.5, 1], [0, 1, 2])}, x="x", y="R", title="T").figure.axes[0]
    assert 0.2 in np.round(halves.get_xticks(), 9)


def test_a_run_that_diverged_is_drawn_up_to_there_without_a_warning():
    ys = [1.0, 1e200, 1e249, 1e308, np.inf, np.nan]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for log_y in (False, True):
            plot = plots.curves({"R": (range(6), ys)}, x="step", y="R", title="Loss", log_y=log_y)
            plot.png()
    assert "3 points; rises throughout from 1 at 0 to 1.000e+249 at 2." in plot.text
    assert "Points that cannot be drawn: 3." in plot.text


def test_values_that_a_logarithmic_axis_cannot_show_are_counted():
    plot = plots.curves({"R": ([0, 1, 2], [0, -1, 5])}, x="x", y="y", title="t", log_y=True)
    assert "R: one point, 5 at 2. Points that cannot be drawn: 2." in plot.text
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


@pytest.mark.parametrize("colour", COLOURS)
def test_lines_stand_out_from_white_by_three_to_one(colour):
    assert 1.05 / (_luminance(colour) + 0.05) >= 3


def test_the_text_of_a_fitted_line_gives_its_distance_from_the_points():
    points = {"households": ([0, 1, 2], [1, 0, 1])}
    text = plots.scatter(points, {"line": ([0, 2], [0, 0])}, x="x", y="y", title="Fit").text
    assert "households: 3 points, x from 0 to 2, y from 0 to 1." in text
    assert 'The root mean square distance from "line" to households, along y, is 0.8165.' in text  # sqrt(2/3)


def test_a_curve_that_shoots_off_does_not_squash_the_points():
    points = {"data": (np.arange(5), np.arange(5))}
    wild = {"degree 9": (np.linspace(0, 4, 50), 1e6 * np.linspace(-1, 1, 50))}
    figure = plots.scatter(points, wild, x="x", y="y", title="Over-fitting").figure
    low, high = figure.axes[0].get_ylim()
    assert low > -3 and high < 7


def test_the_text_of_a_surface_gives_its_lowest_point_and_the_path():
    text = a_plot_of_each_kind()[2].text
    assert "lowest value is 0, near (0, 0), and the highest is 56." in text
    assert "3 points. It begins at (3, 1), where the value is 19, and ends at (0.3, 0.1), where it is 0.19." in text


def test_a_surface_says_when_the_path_leaves_the_picture():
    path = np.array([[0.5, 0.5], [9.0, 9.0]])
    plot = plots.surface(bowl, bowl_gradient, (-1, 1), (-1, 1), path=path, x="m", y="b", title="Bowl")
    assert "Points outside the picture: 1." in plot.text
    assert plot.figure.axes[0].get_xlim() == (-1, 1)


def test_no_label_of_a_contour_lies_on_another_or_on_the_path():
    def trough(t):  # its contours are straight lines, which the path crosses at right angles
        return float(t[0] ** 2)

    path = np.array([[0.9, 0.0], [0.4, 0.0], [0.1, 0.0], [0.1, -0.1]])
    plot = plots.surface(trough, lambda t: t * [2, 0], (-1, 1), (-1, 1), path=path, x="m", y="b", title="Trough")
    figure = plot.figure
    figure.canvas.draw()
    (axes,) = figure.axes
    boxes = [label.get_window_extent() for label in axes.texts]
    assert len(boxes) >= 5
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    on_path = axes.transData.transform(np.concatenate([np.linspace(a, b, 50) for a, b in itertools.pairwise(path)]))
    assert not any(box.contains(*point) for box in boxes for point in on_path)
    assert not any(box.overlaps(axes.get_legend().get_window_extent()) for box in boxes)


def test_the_legend_of_curves_that_fill_the_picture_stands_below_it():
    years = np.arange(1950, 2009)
    full = {f"curve number {i}": (years, 40 * i + 60 * np.sin(years / 1.7)) for i in range(4)}
    figure = plots.curves(full, x="year", y="sunspots", title="Full").figure
    (axes,), (legend,) = figure.axes, figure.legends
    figure.draw_without_rendering()
    assert axes.get_legend() is None and not legend.get_window_extent().overlaps(axes.get_window_extent())
    roomy = {name: ([0, 1], [i, 0]) for i, name in enumerate("ab", 1)}
    figure = plots.curves(roomy, x="step", y="R", title="Roomy").figure
    assert figure.axes[0].get_legend() is not None and not figure.legends


def test_a_path_that_ran_away_is_drawn_up_to_there():
    path = np.array([[0.5, 0.5], [9.0, 9.0], [1e300, -1e300], [np.inf, np.nan]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot = plots.surface(bowl, bowl_gradient, (-1, 1), (-1, 1), path=path, x="m", y="b", title="Bowl")
        plot.png()
    assert "ends at (infinity, not a number), where" in plot.text
    assert "Points outside the picture: 3." in plot.text


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


def pass_on(comm):
    """Rank 0 sends to rank 1 after 2 s of computing, rank 1 to rank 2: a message takes 4 s."""
    x = np.ones(3)
    if comm.rank == 0:
        comm.compute(2.0)
    else:
        comm.recv(x, comm.rank - 1)
    if comm.rank < comm.size - 1:
        comm.send(x, comm.rank + 1)


def in_a_circle(comm):
    x = np.ones(3)
    if comm.rank < 2:
        comm.sendrecv(x, 1 - comm.rank, recvbuf=x.copy(), source=1 - comm.rank)
        comm.recv(x, 1 - comm.rank)


SECONDS = Simulated(alpha=1.0, beta=8.0, trace=True)


def timeline_of(function, ranks, **kwargs):
    try:
        trace = spmd(function, ranks=ranks, carrier=SECONDS, **kwargs).trace
    except RunFailed as failed:
        trace = failed.trace
    plot = trace.timeline()
    assert plot.png().startswith(b"\x89PNG")
    return plot


def boxes(plot, kind):
    """(row, start, end) of each box of a kind in a timeline."""
    collection = plot.figure.axes[0].collections[list(ACTIVITIES).index(kind)]
    corners = [path.vertices for path in collection.get_paths()]
    return [(round(c[:4, 1].mean()), c[:, 0].min(), c[:, 0].max()) for c in corners]


def test_a_timeline_shows_what_each_rank_did_when_and_what_was_predicted():
    plot = timeline_of(pass_on, 3)
    assert boxes(plot, "compute") == [(0, 0, 2)]
    assert boxes(plot, "wait") == [(1, 0, 2), (2, 0, 6)]
    assert boxes(plot, "message") == [(0, 2, 6), (1, 2, 6), (1, 6, 10), (2, 6, 10)]
    arrows = [(text.xyann, text.xy) for text in plot.figure.axes[0].texts]
    assert [(a[0], b[0]) for a, b in arrows] == [(2, 6), (6, 10)]
    assert plot.figure.axes[0].get_ylim()[0] > plot.figure.axes[0].get_ylim()[1]  # rank 0 is on top
    assert plot.text == (
        "Timeline of 3 simulated ranks. The run took 10 s. The alpha-beta model predicts 8 s for its 2 steps, without "
        "the time for computing. Rank 0: messages: 1 sent, 0 received, 4 s sending or receiving, 2 s computing. "
        "Rank 1: messages: 1 sent, 1 received, 8 s sending or receiving, 2 s waiting. "
        "Rank 2: messages: 0 sent, 1 received, 4 s sending or receiving, 6 s waiting. "
        "The longest wait: rank 2 waited 6 s in all for rank 1."
    )


def test_where_messages_cost_nothing_a_timeline_predicts_nothing():
    trace = spmd(pass_on, ranks=3, carrier=Simulated(alpha=0.0, beta=1e18)).trace
    plot = trace.timeline()
    assert "The run took 2 s." in plot.text and "predicts" not in plot.text


def test_an_arrow_ends_when_the_dest_has_the_message_although_its_sender_knows_later():
    sender, receiver = Recorder(0, 2), Recorder(1, 2)
    sender.messages.append((0, 1, 0, 8, 1, 0.0, 1.0, 5.0))
    sender.add_call("send", 1, 8, 0.0, 1.0, 5.0)
    receiver.add_call("recv", 0, 8, 0.0, 1.0, 3.0)
    receiver.arrivals.append((0, 1, 0, 1, 3.0))
    for recorder, end in ((sender, 5.0), (receiver, 3.0)):
        recorder.end("returned", end)
    plot = Trace([sender.to_plain(), receiver.to_plain()], "local", 5.0).timeline()
    assert boxes(plot, "message") == [(0, 1, 3), (1, 1, 3)]
    assert boxes(plot, "wait") == [(0, 0, 1), (0, 3, 5), (1, 0, 1)]
    assert [text.xy[0] for text in plot.figure.axes[0].texts] == [3]


def test_a_failed_runs_timeline_shows_the_waits_that_never_ended_up_to_the_edge():
    plot = timeline_of(in_a_circle, 3)
    edge = plot.figure.axes[0].get_xlim()[1]
    assert edge > 4 and boxes(plot, "wait") == [(0, 4, edge), (1, 4, edge)]
    words = [text.get_text().strip() for text in plot.figure.axes[0].texts]
    assert [word for word in words if word] == ["waits: recv from 1", "waits: recv from 0", "returned"]
    assert "The run failed after 4 s." in plot.text and "predicts" not in plot.text
    assert (
        "Rank 0: messages: 1 sent, 1 received, 4 s sending or receiving; at the end: waits: recv from 1." in plot.text
    )
    assert "Rank 2: messages: 0 sent, 0 received; at the end: returned." in plot.text


def test_a_deadlock_in_which_no_time_passed_is_drawn_too():
    plot = timeline_of(lambda comm: comm.send(np.ones(1), 1 - comm.rank), 2)
    axes = plot.figure.axes[0]
    assert len(boxes(plot, "wait")) == 2 and axes.get_xticks().tolist() == [0]
    assert "Rank 1: messages: 0 sent, 0 received; at the end: waits: send to 0." in plot.text


def test_a_computation_that_was_cut_off_reaches_the_edge():
    def endless(comm):
        comm.compute(1.0)
        while comm.rank == 1:
            pass

    plot = timeline_of(endless, 2, timeout=0.1)
    assert boxes(plot, "compute") == [(0, 0, 1), (1, 0, 1), (1, 1, plot.figure.axes[0].get_xlim()[1])]
    assert "at the end: computes." in plot.text


@pytest.mark.parametrize(
    ("function", "network", "reason"),
    [
        (lambda comm: None, SECONDS, "nothing was sent, and nothing took time."),
        (pass_on, Simulated(trace=False), "this run kept counts but no times."),
    ],
)
def test_a_timeline_of_nothing_says_so(function, network, reason):
    plot = spmd(function, ranks=2, carrier=network).trace.timeline()
    assert plot.text == f"Timeline of 2 simulated ranks. Nothing to draw: {reason}"
    assert plot.png().startswith(b"\x89PNG")


def test_of_many_ranks_the_busiest_are_drawn_and_the_text_says_so():
    def loop(comm):
        if comm.rank >= 50:
            comm.send(np.ones(comm.rank), 0)
        elif comm.rank == 0:
            for source in range(50, comm.size):
                comm.recv(np.empty(source), source)

    plot = timeline_of(loop, 70)
    names = [label.get_text() for label in plot.figure.axes[0].get_yticklabels()]
    assert names == ["rank 0"] + [f"rank {rank}" for rank in range(55, 70)]
    assert "Only the 16 ranks that sent or received the most bytes are drawn." in plot.text
    plot = timeline_of(loop, 64)
    assert len(plot.figure.axes[0].get_yticklabels()) == 64
    assert "Ranks 1 to 49: messages: 0 sent, 0 received." in plot.text


def test_too_many_messages_are_drawn_without_arrows_and_without_lines_between_them():
    def chat(comm):
        for _ in range(300):
            comm.sendrecv(np.ones(1), 1 - comm.rank, recvbuf=np.ones(1), source=1 - comm.rank)

    plot = timeline_of(chat, 2)
    assert len(boxes(plot, "message")) == 600 and not plot.figure.axes[0].texts
    assert plot.figure.axes[0].collections[0].get_linewidth() == [0]


def test_ranks_that_did_the_same_share_one_description():
    def all_alike(comm):
        comm.sendrecv(np.ones(1), comm.size - 1 - comm.rank, recvbuf=np.ones(1), source=comm.size - 1 - comm.rank)

    text = timeline_of(all_alike, 6, faults=[Slow(2, 1.0)]).text
    assert "Ranks 0 and 1, 4 and 5: messages: 1 sent, 1 received, 2 s sending or receiving." in text
    assert "Rank 2: messages: 1 sent, 1 received, 2 s sending or receiving, 1 s computing." in text


def test_activities_differ_in_more_than_colour():
    looks = list(ACTIVITIES.values())
    for what in ("fill", "hatch", "height", "words"):
        index = ["line", "fill", "hatch", "height", "words"].index(what)
        assert len({look[index] for look in looks}) == len(looks), what
    for line, fill, *_ in looks:
        assert 1.05 / (min(_luminance(line), _luminance(fill)) + 0.05) >= 3  # it stands out from white


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (61.2e-6, "61.2 µs"),
        (1e-3, "1 ms"),
        (0.25, "250 ms"),
        (1, "1 s"),
        (75.5, "75.5 s"),
        (8e-9, "0.008 µs"),
    ],
)
def test_durations_read_well(seconds, text):
    assert plots.duration(seconds) == text


def test_the_text_of_pictures_gives_their_names_and_where_their_ink_is():
    top = np.zeros((4, 4))
    top[0, 3] = 9
    plot = plots.images([top, np.ones((4, 4)), np.zeros((4, 4))], ["a", "b", "c"], title="Three")
    assert plot.text == (
        "Three. 3 pictures. The larger a number, the more its pixel stands out from the background. "
        "Picture 1: a; 100% of its ink is in the upper half, 0% in the left half. "
        "Picture 2: b; 50% of its ink is in the upper half, 50% in the left half. Picture 3: c; it is empty."
    )
    assert [axes.get_title() for axes in plot.figure.axes] == ["a", "b", "c"]


def test_the_ink_of_a_picture_with_negative_numbers_counts_from_its_smallest_number():
    plot = plots.images([np.array([[-1, -1], [2, -1]]), -np.eye(2)], ["a", "b"], title="Two")
    assert "Picture 1: a; 0% of its ink is in the upper half, 100% in the left half." in plot.text
    assert "Picture 2: b; 50% of its ink is in the upper half, 50% in the left half." in plot.text


def test_pictures_with_limits_share_one_scale():
    plot = plots.images([np.full((2, 2), 31), np.eye(2)], ["a", "b"], title="Two", limits=(0, 32))
    assert "2 pictures. A pixel of 0 looks like the background, one of 32 stands out most." in plot.text
    assert [axes.images[0].get_clim() for axes in plot.figure.axes] == [(0, 32), (0, 32)]


def test_an_empty_list_of_pictures_is_reported_and_names_must_match():
    assert "Nothing to draw" in plots.images([], [], title="None").text
    with pytest.raises(ValueError, match="as many names"):
        plots.images([np.eye(2)], [], title="One")


def test_the_text_of_devices_gives_how_long_each_was_busy_and_how_long_several_were():
    text = plots.devices(OPERATIONS, title="Where").text
    assert "All operations together span 9 s." in text
    assert "GPU:1: 3 operations, busy for 7 s; MatMul took the longest." in text  # 4 and 3: what overlaps counts once
    assert "CPU:0: 1 operation, busy for 1 s; Send took the longest." in text
    assert "Several devices computed at once for 3 s." in text  # 0 to 1, 3 to 4 and 6 to 7
    assert text.index("CPU:0:") < text.index("GPU:0:") < text.index("GPU:1:")


def test_one_device_and_no_device_have_a_text_too():
    text = plots.devices(OPERATIONS[1:2], title="Where").text
    assert "CPU:0: 1 operation" in text and "Several" not in text
    assert "Nothing to draw: no operation ran." in plots.devices([], title="Where").text


def heights(plot):
    return [bar.get_height() for bar in plot.figure.axes[0].patches]


def test_a_histogram_counts_every_value_once_and_its_text_gives_the_spread():
    plot = plots.histogram([0, 1, 1, 4], x="points", y="hand-ins", title="Points", ends=(0, 5))
    assert heights(plot) == [1, 2, 0, 0, 1, 0]
    assert "Points: 4 values from 0 to 4, mean 1.5, median 1, middle half from 0.75 to 1.75." in plot.text


@pytest.mark.parametrize("values", [[3.7], [3.7] * 200, [0], range(34), np.linspace(0, 1e9, 200), [1e-9, 2e-9, 0.5]])
def test_a_histogram_holds_one_value_or_many_equal_or_far_apart(values):
    counted = heights(plots.histogram(values, x="time (s)", y="hand-ins", title="Times"))
    assert sum(counted) == len(values) and len(counted) <= 20


def test_whole_numbers_spread_evenly_give_bars_of_one_height():
    assert set(heights(plots.histogram(range(40), x="points", y="hand-ins", title="Points"))) == {2}


def test_shares_say_how_many_of_each_kind_and_draw_parts_that_differ_without_colour():
    plot = plots.shares({"add": (3, 0, 1), "walk": (0, 2, 2)}, ["full", "some", "none"], x="hand-ins", title="Tasks")
    assert plot.text == "Tasks. The bars count hand-ins. add: 3 full, 1 none. walk: 2 some, 2 none."
    drawn = [bar for bar in plot.figure.axes[0].patches if bar.get_width()]
    assert sorted(bar.get_width() for bar in drawn) == [1, 2, 2, 3]
    lightness = [np.dot(plt_colour, [0.2126, 0.7152, 0.0722, 0]) for plt_colour in {b.get_facecolor() for b in drawn}]
    assert min(np.diff(sorted(lightness))) > 0.1


def test_having_nothing_to_count_is_reported_and_a_row_of_another_length_is_refused():
    assert "Nothing to draw" in plots.histogram([], x="points", y="hand-ins", title="Points").text
    assert "Nothing to draw" in plots.shares({"add": (0, 0)}, ["full", "none"], x="hand-ins", title="Tasks").text
    with pytest.raises(ValueError, match="one count per kind"):
        plots.shares({"add": (1,)}, ["full", "none"], x="hand-ins", title="Tasks")


def test_a_photo_says_where_each_colour_is_brightest():
    bands = np.zeros((4, 6, 3))
    bands[0, 0, 0] = bands[3, 5, 1] = bands[3, 0, 2] = 9
    text = plots.photo(bands, title="Scene").text
    assert text.startswith("Scene. 4 rows of 6 pixels. The red band is brightest in the upper left.")
    assert (
        "The green band is brightest in the lower right." in text
        and "The blue band is brightest in the lower left." in text
    )


def test_the_text_of_maps_gives_their_shares_and_how_far_they_agree():
    other = np.array([[1, 2, 1], [2, 2, 0]])
    plot = plots.maps([FIELDS, other], ["truth", "mine"], title="Maps", classes=["none", "corn", "oats"])
    assert "truth: 4 pixels have a class: corn 50.0%, oats 50.0%." in plot.text
    assert "mine: 5 pixels have a class: oats 60.0%, corn 40.0%." in plot.text
    assert plot.see == "Pixels with the same class as in truth, where both maps have one: mine 75.0%."
    names = {"title": "Maps", "classes": ["none", "corn", "oats"]}
    both = plots.maps([FIELDS, other, FIELDS], ["truth", "mine", "yours"], **names)
    assert both.see.endswith(" mine 75.0%; yours 100.0%.")
    assert "same class" not in plots.maps([FIELDS, other], ["truth", "mine"], **names, compare=False).text


def test_the_text_of_further_maps_gives_the_largest_classes():
    grid, names = np.arange(1, 9).reshape(2, 4), ["none", *"abcdefgh"]
    text = plots.maps([grid, grid.clip(max=7)], ["truth", "mine"], title="Maps", classes=names).text
    assert text.count("h 12.5%") == 1
    assert "mine: 8 pixels have a class: g 25.0%, a 12.5%, b 12.5%, c 12.5%, d 12.5%, 2 others 25.0%." in text


def test_the_larger_fields_of_a_map_carry_their_number_so_that_colour_is_not_needed():
    grid = np.zeros((20, 20), int)
    grid[2:12, 3:13], grid[15, 15] = 2, 1
    axes = plots.maps([grid], ["truth"], title="Maps", classes=["none", "corn", "oats"]).figure.axes[0]
    (mark,) = axes.texts
    column, row = mark.get_position()
    assert mark.get_text() == "2" and grid[int(row), int(column)] == 2


def test_a_map_without_any_class_is_reported_and_names_must_match():
    empty = plots.maps([np.zeros((2, 2), int)], ["truth"], title="Maps", classes=["none", "corn"])
    assert "truth: no pixel has a class." in empty.text
    with pytest.raises(ValueError, match="as many names as maps"):
        plots.maps([FIELDS], [], title="Maps", classes=["none"])


def test_the_text_of_a_confusion_matrix_gives_what_is_correct_and_what_is_confused():
    plot = plots.matrix([[0, 0, 0], [0, 6, 2], [0, 1, 3]], ["none", "corn", "oats"], title="Confusion")
    assert "Predicted correctly, by true class: corn 75%, oats 75%." in plot.text
    assert plot.text.endswith("corn predicted as oats, 2; oats predicted as corn, 1.")
    assert [label.get_text() for label in plot.figure.axes[0].get_yticklabels()] == ["1 corn", "2 oats"]
    assert "Nothing to draw" in plots.matrix(np.zeros((2, 2), int), ["a", "b"], title="T").text


def test_the_names_of_all_classes_fit_beneath_one_map():
    names = ["none", *(f"a rather long class name, {c}" for c in range(1, 17))]
    figure = plots.maps([np.arange(17).reshape(1, 17)], ["truth"], title="Maps", classes=names).figure
    figure.draw_without_rendering()
    box, (legend,) = figure.bbox, figure.legends
    assert legend.get_window_extent().x0 >= box.x0 and legend.get_window_extent().x1 <= box.x1


def test_a_long_title_takes_two_lines_and_stays_one_in_words():
    title = "The squared gradient after each of the steps, for batches of several sizes and two rates"
    plot = plots.curves({"run": ([0, 1], [1, 2])}, x="step", y="R", title=title)
    assert "\n" in plot.figure.axes[0].get_title()
    assert plot.text.startswith(title) and f'alt="Picture: {title}"' in plot._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize("low, high", [(30, 900), (3, 9), (1e-3, 5e-2)])
def test_labels_of_a_short_logarithmic_axis_do_not_touch(low, high):
    plot = plots.curves({"run": ([low, high], [low, high])}, x="n", y="R", title="Short", log_x=True, log_y=True)
    plot.png()
    axes = plot.figure.axes[0]
    for axis, side in ((axes.xaxis, 0), (axes.yaxis, 1)):
        labels = [label for label in axis.get_ticklabels(which="both") if label.get_text() and label.get_visible()]
        boxes = sorted(
            (box.intervalx if side == 0 else box.intervaly).tolist()
            for box in (label.get_window_extent() for label in labels)
        )
        assert all(end < start for (_, end), (start, _) in itertools.pairwise(boxes)), [
            each.get_text() for each in labels
        ]


def test_an_exchange_lists_every_message_in_its_order():
    plot = plots.exchange(
        [("ps", "worker", "w"), ("worker", "ps", "gradient"), ("ps", "chief", "done")], title="A step"
    )
    assert plot.see == "3 messages cross between ps, worker and chief."
    assert "2. worker sends gradient to ps. 3. ps sends done to chief." in plot.text
    assert [label.get_text() for label in plot.figure.axes[0].get_xticklabels()] == ["ps", "worker", "chief"]


def test_fields_say_where_they_are_smallest_and_largest():
    grid = [[0.0, 1.0], [2.0, -3.0], [5.0, 4.0]]
    plot = plots.fields([grid], ["u"], xs=[0.25, 0.75], ys=[0, 1, 2], x="x", y="t", title="A vessel")
    assert plot.text.startswith("A vessel. Horizontal axis: x. Vertical axis: t.")
    assert "u: smallest -3 at x = 0.75, t = 1, largest 5 at x = 0.25, t = 2." in plot.text


def test_a_film_stands_still_until_its_box_is_ticked_and_says_what_its_moments_show():
    plot = plots.film([0, 0.5, 1], {"wave": ([0, 1], [[0, 0], [4, 1], [1, 2]])}, x="x", y="p", title="A wave")
    assert "At t = 0.5 the largest values are: wave 4 at 0." in plot.text and "The film has 3 moments." in plot.text
    page = plot._repr_mimebundle_()["text/html"]
    assert "infinite paused" in page and ":checked~.window img{animation-play-state:running}" in page
    box, label = re.search(r'<input type="checkbox" id="([^"]+)">', page), re.search(r'<label for="([^"]+)">', page)
    assert box and box[1] == label[1] and "checked>" not in page and "<script" not in page
    assert re.search(r'<img class="turns" [^>]*alt="Film: A wave\.', page)


def test_a_film_has_one_picture_per_moment_of_the_same_size():
    from PIL import Image

    one, three = (
        plots.film(range(count), {"wave": ([0, 1], [[k, 0] for k in range(count)])}, x="x", y="p", title="A wave")
        for count in (1, 3)
    )
    sizes = [Image.open(io.BytesIO(plot.frames)).size for plot in (one, three)]
    assert sizes[0][0] == sizes[1][0] and 3 * sizes[0][1] == sizes[1][1]
