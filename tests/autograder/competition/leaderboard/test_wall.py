"""The wall: empty and full, before the deadline and after it."""

import html
import io
import re

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient

from autograder.competition.leaderboard import rules
from autograder.competition.leaderboard.web import wall
from autograder.competition.leaderboard.web.latest import Latest
from autograder.testing.board import BoardWithGroups, make_patchy_entry, pass_deadline, score_patchy_map
from autograder.testing.board_pages import read_page
from autograder.testing.maps import make_patchy_map, to_npy
from course.competition import scene


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Two hundred groups. They share three pairs of maps, but each has different numbers."""
    board = BoardWithGroups(tmp_path_factory.mktemp("many"))
    places = {split: {} for split in scene.SPLITS}
    for n in range(1, 201):
        group = board.join(f"Group {n}")
        number, _ = board.store.entries.accept(group.id, "k", make_patchy_entry(n % 3, (0.03, 0.3)))
        scores = {}
        for split, wrong in zip(scene.SPLITS, (0.03, 0.3), strict=True):
            numbers = score_patchy_map(n % 3, wrong, split)
            scores[split] = numbers | {name: numbers[name] - n / 2000 for name in ("overall", "low", "high")}
            places[split][number] = n
        board.store.work.put_scores(number, "public", scores)
    board.store.work.put_ranks("public", "made up", places)
    return board


def test_the_wall_of_an_empty_board_explains_how_to_take_part(tmp_path):
    board = BoardWithGroups(tmp_path, ["The first"])
    page = read_page(TestClient(board.app()).get("/"))
    assert page.text.count("No entry yet") == 2 and "left, until" in page.text and "How to take part" in page.text
    assert not page.all("tr", **{"class": "row"}) and page.all("img", alt="Ground truth: 10,249 pixels have a class")


def test_the_wall_of_one_group_has_its_row_on_both_splits_and_its_maps_beside_the_truth(tmp_path):
    board = BoardWithGroups(tmp_path, ["Alone"])
    board.store.entries.accept(1, "k", make_patchy_entry(1))
    assert "No entry yet" in read_page(TestClient(board.app()).get("/")).text  # until it is scored
    board.score()
    page = read_page(TestClient(board.app()).get("/"))
    assert len(page.all("tr", **{"class": "row"})) == 2 and "Not verified" in page.text
    words = [attributes["alt"] for attributes in page.all("img") if attributes["alt"]]
    assert [each.split(":")[0] for each in words] == [
        "Ground truth", "The map of Alone for the random split", "The map of Alone for the disjoint split",
    ]  # fmt: skip
    assert all("Soybean-mintill" in each for each in words) and "left blank until the deadline" in words[1]


def test_verified_entries_come_first_and_the_others_below_a_heading(asking):
    page = asking.get("/").text
    for split in scene.SPLITS:
        section = page.split(f'<section class="panel {split}"')[1].split("</section>")[0]
        places = [
            section.index(html.escape(name, quote=True).replace("&#x27;", "&#39;")) for name in ("Ann & Bob", "Ähren")
        ]
        assert places[0] < section.index("Not verified") < section.index("refused") and places[1] < section.index(
            "refused"
        )


def test_every_number_of_a_group_is_on_the_wall_as_text(three, asking):
    page, row = asking.get("/?group=Ann+%26+Bob"), three.store.visible.read_standing().find_row("disjoint", "Ann & Bob")
    section = page.text.split('<section class="panel disjoint"')[1].split("</section>")[0]
    gap = three.store.visible.read_standing().compute_gap("Ann & Bob")
    for number in (f"{100 * row.overall:.1f}<", f"{100 * row.average:.1f}<", f"{row.kappa:.2f}<", f"{gap:.1f}<"):
        assert number in section
    assert f"{100 * row.low:.1f} to {100 * row.high:.1f}" in section
    assert ">4 processes in 12 s<" in page.text and "Trained by 4 processes in 12 s" in page.text
    recall = page.text.split('<div class="recall">')[1].split("</div>")[0]
    assert recall.count("<tr>") == 17 and f"{100 * row.recall[11]:.0f}</td>" in recall and "not scored" in recall


def test_shared_ranks_are_marked(tmp_path):
    board = BoardWithGroups(tmp_path, ["One", "Two", "Three"])
    for n, wrong in ((1, 0.3), (2, 0.3), (3, 0.6)):
        board.store.entries.accept(n, "k", make_patchy_entry(1, (wrong, wrong)))
    board.score()
    board.verify("verified", "verified", "verified")
    page = TestClient(board.app()).get("/")
    read_page(page)
    for split in scene.SPLITS:
        section = page.text.split(f'<section class="panel {split}"')[1].split("</section>")[0]
        displayed = re.findall(r'class="place[^"]*">(\d+)(.*?)</td>', section)
        assert [(rank, "shared" in rest) for rank, rest in displayed] == [("1", True), ("1", True), ("3", False)]
        assert '["One", "Two"]' in html.unescape(section)


@pytest.mark.long
def test_two_hundred_groups_fill_pages_and_a_requested_group_is_on_the_page_that_opens(many):
    client = TestClient(many.app())
    first = read_page(client.get("/"))
    assert len(first.all("tr", **{"class": "row"})) == 20 and first.text.count("1 to 10 of 200") == 2
    last = read_page(client.get("/?page=20"))
    assert "191 to 200 of 200" in last.text and "Group 200" in last.text
    assert "191 to 200 of 200" in read_page(client.get("/?page=9999")).text
    assert "71 to 80 of 200" in read_page(client.get("/?group=Group+77")).text
    for nonsense in ("?page=-1", "?page=x", "?group=nobody", "?page=%00", "?group=%3Cscript%3E", "?page=" + "9" * 5000):
        assert "1 to 10 of 200" in read_page(client.get(f"/{nonsense}")).text
    assert len(read_page(client.get("/")).all("option")) == 200
    assert len(client.get("/").content) < 100_000


def test_maps_show_no_private_pixel_before_the_deadline_and_all_labelled_pixels_after_it(tmp_path):
    board = BoardWithGroups(tmp_path, ["Alone"])
    board.store.entries.accept(1, "k", make_patchy_entry(1))
    board.score()
    app = board.app()
    for part in ("public", "private"):
        assert board.store.visible.read_standing().part == part
        for split, wrong in zip(scene.SPLITS, (0.02, 0.3), strict=True):
            answer = TestClient(app).get(f"/map/1/{split}.png")
            displayed = np.array(Image.open(io.BytesIO(answer.content)))
            hidden = (scene.split(split).grid == scene.PRIVATE) & (part == "public")
            assert hidden.any() == (part == "public")
            hidden |= scene.load()[1] == 0
            assert np.array_equal(displayed, np.where(hidden, 0, make_patchy_map(1, wrong)))
        if part == "public":
            pass_deadline(board.store)
            board.score()


def test_the_map_on_the_wall_is_the_one_that_its_row_was_scored_by(tmp_path):
    board = BoardWithGroups(tmp_path, ["Alone"])
    board.store.entries.accept(1, "k", make_patchy_entry(1))
    pass_deadline(board.store)
    board.score()
    latest, rerun, is_labelled = Latest(board.store), make_patchy_map(9, 0.02), scene.load()[1] > 0
    before = latest.read()
    number, part = board.store.work.take_next_to_verify()
    files = dict.fromkeys(scene.SPLITS, to_npy(rerun))
    board.store.work.put_verdict(number, part, "verified", "as it is", maps=files)
    assert np.array_equal(before.read_map(1, "random"), np.where(is_labelled, make_patchy_map(1, 0.02), 0))
    board.score()
    assert np.array_equal(latest.read().read_map(1, "random"), np.where(is_labelled, rerun, 0))


def test_only_maps_that_are_on_the_wall_are_served(three, asking):
    counting = {row.entry for row in three.store.visible.read_standing().rows["random"]}
    assert counting == {1, 3, 4}
    for path in (
        "/map/2/random.png",
        "/map/99/random.png",
        "/map/1/private.png",
        "/map/1/..%2f..%2fx.png",
        "/map/0/random.png",
    ):
        assert asking.get(path).status_code in (404, 422), path
    assert asking.get("/map/truth.png").headers["content-type"] == "image/png"


def test_the_wall_changes_at_the_deadline_although_nothing_else_has_changed(tmp_path, monkeypatch):
    board = BoardWithGroups(tmp_path, ["Alone"])
    board.store.entries.accept(1, "k", make_patchy_entry(1))
    client = TestClient(board.app())
    assert "left, until" in client.get("/").text
    later = board.store.settings.read().deadline
    monkeypatch.setattr(rules, "now", lambda: later)
    assert "The deadline has passed" in client.get("/").text


def test_entries_that_were_refused_or_replaced_before_verification_are_not_progress(tmp_path):
    """Otherwise a truth that was uploaded once would stay in the chart at 100%."""
    board = BoardWithGroups(tmp_path, ["Honest", "Caught", "In passing"])
    for group, key, wrong in ((1, "a", 0.3), (2, "b", 0.0), (3, "c", 0.0), (3, "d", 0.4)):
        board.store.entries.accept(group, key, make_patchy_entry(1, (wrong, wrong)))
    board.score()
    lines = board.store.visible.read_wall().progress["random"]
    assert set(lines) == {"Honest", "Caught", "In passing"} and len(lines["In passing"]) == 1
    board.verify("verified", "refused", "verified")
    lines = board.store.visible.read_wall().progress["random"]
    assert set(lines) == {"Honest", "In passing"} and all(value < 0.9 for line in lines.values() for _, value in line)
    page = read_page(TestClient(board.app()).get("/?group=Caught"))
    assert "100.0" not in page.text.split("In words")[1] and "the best accuracy" in page.text


def test_a_board_whose_entries_were_all_refused_has_a_wall(tmp_path):
    board = BoardWithGroups(tmp_path, ["Alone"])
    board.store.entries.accept(1, "k", make_patchy_entry(1))
    board.score()
    board.verify("flagged")
    page = read_page(TestClient(board.app()).get("/"))
    assert "to be reviewed" in page.text and page.text.count("No entry on the") == 2


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 seconds"), (61, "1 minute 1 second"), (3600, "1 hour 0 minutes"), (200_000, "2 days 7 hours")],
)
def test_a_duration_is_given_in_its_two_largest_units(seconds, words):
    assert wall.format_duration(seconds) == words
