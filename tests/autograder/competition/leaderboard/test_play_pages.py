"""Pages and API of groups, codes, phases, notes, members and baselines; the wall's QR code and changes of rank."""

import html
import re
from datetime import timedelta

import pytest
from starlette.testclient import TestClient

from autograder.competition.leaderboard import audit, rules
from autograder.competition.leaderboard.web import templating
from autograder.testing.board import CODE, BoardWithGroups, make_files, make_patchy_entry, pass_deadline
from autograder.testing.board_pages import NASTY, OWN_SITE, log_in, read_page
from course.competition import scene


@pytest.fixture
def pair(tmp_path):
    """Two groups, each with one verified entry."""
    board = BoardWithGroups(tmp_path, ["Good", "Bad"])
    for n, wrong in ((1, (0.02, 0.2)), (2, (0.4, 0.6))):
        board.store.entries.accept(n, "k", make_patchy_entry(1, wrong))
    board.score()
    board.verify("verified", "verified")
    return board


def test_the_instructor_renames_merges_and_deletes_groups_by_forms(pair):
    client = log_in(pair, pair.instructor)
    page = read_page(client.get("/instructor?group=2"))
    actions = {form["action"].rpartition("/")[2] for form in page.all("form", method="post")}
    assert {"rename", "merge", "delete", "baseline", "codes"} <= actions
    done = client.post("/instructor/rename", data={"group": 2, "name": f"Worse {NASTY}"[:40]})
    assert "has been renamed" in read_page(client.get(done.headers["location"])).text
    assert f"Worse {NASTY}"[:40] in read_page(client.get("/")).text
    again = client.post("/instructor/rename", data={"group": 2, "name": "good"})
    assert "already a group Good" in read_page(again, 409).text
    done = client.post("/instructor/merge", data={"group": 2, "into": 1})
    assert done.headers["location"].endswith("done=merge&group=1")
    assert "have been merged" in read_page(client.get(done.headers["location"])).text
    assert len(read_page(client.get("/")).all("tr", **{"class": "row"})) == 2  # one on each split
    assert "no group 2" in read_page(client.post("/instructor/delete", data={"group": 2}), 404).text
    client.post("/instructor/delete", data={"group": 1})
    assert "No group has joined yet" in read_page(client.get("/instructor")).text
    log = read_page(client.get("/instructor")).text.partition("The log")[2]
    assert "renamed: group 2" in log and "merged: group 2, into 1" in log and "deleted: group 1" in log
    assert audit.find_faults(pair.store.log) == []


def test_only_the_instructor_changes_groups(pair):
    client, head = log_in(pair, pair.tokens["Bad"]), pair.store.log.read_head()
    for path in ("rename", "merge", "delete", "baseline", "codes"):
        read_page(client.post(f"/instructor/{path}", data={"group": 1, "into": 2, "name": "x", "count": 3}), 403)
    header = {"Authorization": f"Bearer {pair.tokens['Bad']}"}
    for path, body in (
        ("groups/1/rename", {"name": "x"}), ("groups/1/merge", {"into": 2}), ("groups/1/delete", None),
        ("groups/1/baseline", {"baseline": True}), ("codes", {"count": 3}),
    ):  # fmt: skip
        assert TestClient(pair.app()).post(f"/api/{path}", json=body, headers=header).status_code == 403, path
    assert pair.store.log.read_head() == head


def test_the_api_does_what_the_forms_do(pair):
    api, header = TestClient(pair.app()), {"Authorization": f"Bearer {pair.instructor}"}

    def post(path, body=None):
        return api.post(f"/api/{path}", json=body, headers=header)

    assert post("groups/2/rename", {"name": "Other"}).json() == {"group": 2, "name": "Other"}
    assert post("groups/2/baseline", {"baseline": True}).json() == {"group": 2, "baseline": True}
    rows = api.get("/api/standing").json()["rows"]["random"]
    assert [(row["group"], row["baseline"]) for row in rows] == [("Good", False), ("Other", True)]
    codes = post("codes", {"count": 2}).json()["codes"]
    joined = api.post("/api/groups", json={"name": "New", "code": codes[0]})
    assert joined.status_code == 201 and post("groups/3/merge", {"into": 1}).json() == {"group": 1}
    assert post("groups/2/delete").json() == {"deleted": 2} and post("groups/9/delete").status_code == 404
    own = {"Authorization": f"Bearer {pair.tokens['Good']}"}
    assert api.put("/api/members", json={"members": " Ada,  Eve "}, headers=own).json()["members"] == "Ada, Eve"
    assert api.post("/api/entries/1/note", json={"note": "a blur"}, headers=own).json()["note"] == "a blur"
    assert api.post("/api/entries/2/note", json={"note": "x"}, headers=own).status_code == 404
    changed = {"joining": "closed", "choices": 2, "phases": "A, 2030-01-01T10:00, 2030-01-02T10:00, 3"}
    assert api.put("/api/settings", json=changed, headers=header).json().items() >= changed.items()
    for wrong in ({"joining": "open"}, {"choices": 3}, {"phases": "A"}):
        assert api.put("/api/settings", json=wrong, headers=header).status_code == 422


def test_codes_are_displayed_once_and_settings_keep_the_phases(pair):
    client = log_in(pair, pair.instructor)
    answer = client.post("/instructor/codes", data={"count": 3})
    codes = re.findall(r"<li>([a-z2-9]{10})</li>", answer.text)
    assert len(codes) == 3 and "displayed this once" in read_page(answer).text
    page = client.get("/instructor").text
    assert codes[0] not in page and '<option value="single-use" selected>' in page
    assert "1 to 200" in read_page(client.post("/instructor/codes", data={"count": 0}), 422).text
    welcome = TestClient(pair.app(), headers=OWN_SITE).post("/join", data={"name": "New", "code": codes[1]})
    assert welcome.status_code == 201
    values = {
        "name": "B", "code": CODE, "deadline": "2030-05-01T12:00", "per_day": "3", "time_zone": "Europe/Berlin",
        "joining": "closed", "choices": "2", "phases": "Warm-up, 2030-04-01T09:00, 2030-04-02T09:00, 9",
    }  # fmt: skip
    assert client.post("/instructor/settings", data=values).status_code == 409, "the deadline moves"
    client.post("/instructor/settings", data=values | {"confirm": "yes"})
    settings = pair.store.settings.read()
    assert (settings.joining, settings.choices, settings.phases[0].name) == ("closed", 2, "Warm-up")
    assert values["phases"] in client.get("/instructor").text
    wrong = client.post("/instructor/settings", data=values | {"phases": "Warm-up"})
    assert "cannot be read: write NAME" in read_page(wrong, 422).text


def test_a_group_writes_notes_and_members_by_forms(pair):
    client = log_in(pair, pair.tokens["Good"])
    files = make_files()
    answer = client.post(
        "/group/hand-in?key=a",
        files={name: (name, content) for name, content in files.items()},
        data={"ranks": "", "seconds": "", "note": f"a blur {NASTY}"},
    )
    assert answer.headers["location"].startswith("/group?done=handed-in")
    assert any(f"a blur {NASTY}" == field.get("value") for field in read_page(client.get("/group")).all("input"))
    assert f"a blur {NASTY}" in read_page(log_in(pair, pair.instructor).get("/instructor?group=1")).text
    assert "a blur" not in client.get("/").text, "notes are for the group and the instructor"
    done = client.post("/group/note", data={"entry": 3, "note": "better"})
    assert "The note on entry 3 has been saved" in read_page(client.get(done.headers["location"])).text
    assert "no entry 2" in read_page(client.post("/group/note", data={"entry": 2, "note": "x"}), 404).text
    done = client.post("/group/members", data={"members": f"Ada {NASTY}"})
    assert "members have been saved" in read_page(client.get(done.headers["location"])).text
    pair.score()
    assert f"Members: Ada {NASTY}" in read_page(client.get("/?group=Good")).text
    assert read_page(TestClient(pair.app(), headers=OWN_SITE).post("/group/note", data={"entry": 1}), 401)


def test_a_baseline_is_marked_on_the_wall(pair):
    pair.store.groups.set_baseline(2, True)
    pair.score()
    page = TestClient(pair.app()).get("/?group=Bad")
    assert "baseline" in re.search(r'<tr[^>]*baseline">.*?</tr>', page.text, re.S)[0]
    assert "A baseline of the instructor's, without a rank" in read_page(page).text


def test_the_final_wall_says_how_each_rank_changed(pair):
    pass_deadline(pair.store)
    pair.score()
    pair.verify("verified", "verified")
    places = {split: {1: 2, 2: 1} for split in scene.SPLITS}  # as if the public part had it the other way round
    pair.store.work.put_ranks("public", "made up", places)
    page = TestClient(pair.app()).get("/?group=Good")
    text = html.unescape(page.text)
    assert "▲1" in text and "▼1" in text
    assert "up 1 from rank 2 on the public part" in read_page(page).text
    assert "down 1 from rank 1 on the public part" in text


def test_the_wall_names_the_phase_and_its_limit(pair):
    now = rules.now()
    times = [f"{now + timedelta(hours=each):%Y-%m-%dT%H:%M}+00:00" for each in (-1, 2, 5, 8)]
    pair.store.settings.change({"phases": "Warm-up, {}, {}, 9\nFinal, {}, {}, 3".format(*times)})
    page = read_page(TestClient(pair.app()).get("/")).text
    assert "left in the phase Warm-up, 9 entries per day" in page
    pair.store.settings.change({"phases": "Final, {}, {}, 3".format(*times[2:])})
    assert "left until the phase Final begins" in read_page(TestClient(pair.app()).get("/")).text
    page = read_page(log_in(pair, pair.tokens["Good"]).get("/group"))
    assert "No phase is open at the moment" in page.text and not page.all("input", type="file")


def test_the_wall_has_the_address_to_join_at_and_its_qr_code(pair, tmp_path):
    client = TestClient(pair.app(), base_url="http://board.uni.example:8000")
    for path in ("/", "/join"):
        page = read_page(client.get(path))
        assert "board.uni.example:8000/join" in page.text, path
        assert "QR code of http://board.uni.example:8000/join" in [svg.get("aria-label") for svg in page.pictures]
    for address in ("http://127.0.0.1:8000", "http://localhost:8000", "http://[::1]:8000"):
        page = TestClient(pair.app(), base_url=address).get("/")
        assert "QR code" not in page.text, "an address of this machine is of no use on a phone"
    pair.store.settings.change({"joining": "closed"})
    assert "QR code" not in client.get("/").text and "QR code" not in client.get("/join").text


def test_a_hostile_host_header_stays_text(pair):
    answer = TestClient(pair.app()).get("/", headers={"Host": 'evil"><script>alert(1)</script>'})
    assert answer.status_code in (200, 400) and "<script>alert" not in answer.text


def test_join_addresses_are_those_that_others_can_use():
    assert templating.make_join_address("http://10.1.2.3:8000/") == "http://10.1.2.3:8000/join"
    assert templating.make_join_address("http://127.8.9.1/") is None
