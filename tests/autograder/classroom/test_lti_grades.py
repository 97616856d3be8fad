"""Grades sent to a learning platform: what arrives, what a second run does, and what a platform can refuse."""

from types import SimpleNamespace

import httpx
import pytest

from autograder.classroom import lti_grades, tool_key
from autograder.classroom.folder import Folder
from autograder.classroom.launches import Launches
from autograder.gradebook.classroom import Classroom
from autograder.testing.lti_platform import CLIENT, CONTEXT, ITEMS, SCOPE, Platform
from autograder.testing.signing_server import SigningServer
from course.errors import Problem

pytestmark = pytest.mark.long

LAB = "01-regression"


@pytest.fixture
def folder(tmp_path):
    """The Folder of a class where ada, bob and carl handed in; ada and bob came from the platform."""
    folder = Folder(tmp_path)
    folder.prepare()
    with Classroom(tmp_path / "class").gradebook() as book:
        book.add_assignment(LAB)
        book.add_notebook(LAB, LAB)
        book.add_grade_cell("ring-check", LAB, LAB, max_score=8, cell_type="code")
        for student, points in (("ada", 7.5), ("bob", 3), ("carl", 8)):
            book.add_student(student)
            book.add_submission(LAB, student)
            grade(book, student, points)
    launches = Launches(folder.launches)
    launches.admit("ada", "7", CONTEXT)
    launches.admit("bob", "8", CONTEXT)
    return folder


@pytest.fixture
def platform(folder):
    """A platform that knows the class's public key, with a list of columns of grades."""
    tool = SigningServer()
    key = tool_key.describe(tool_key.load(folder.tool_key))
    tool.routes["GET", "/hub/lti13/jwks"] = lambda request: (200, {}, {"keys": [key]})
    with Platform() as platform, tool:
        platform.tool = tool.url
        platform.enrol("7")
        platform.enrol("8")
        Launches(folder.launches).note_context(CONTEXT, f"{platform.url}{ITEMS}")
        yield platform


def grade(book, student, points):
    """Give the only check's points."""
    found = book.find_grade("ring-check", LAB, LAB, student)
    found.auto_score, found.needs_manual_grade = points, False
    book.db.commit()


def send(folder, platform, lab=LAB):
    """Send the grades of a lab."""
    accounts = {"kind": "lti", "client_id": CLIENT, "token_url": f"{platform.url}/token"}
    return lti_grades.send(folder, SimpleNamespace(accounts=accounts, class_=folder.root / "class"), lab)


def list_scores(platform):
    """(user, points, maximum) that the platform has, sorted."""
    return sorted((each["userId"], each["scoreGiven"], each["scoreMaximum"]) for each in platform.scores.values())


def test_scores_arrive_and_a_second_run_changes_nothing(folder, platform):
    outcome = send(folder, platform)
    assert (outcome.sent, outcome.unchanged) == (2, 0)
    assert list_scores(platform) == [("7", 7.5, 8.0), ("8", 3.0, 8.0)]
    assert {each["gradingProgress"] for each in platform.attempts} == {"FullyGraded"}
    (sentence,) = outcome.failures
    assert sentence.startswith("carl: nobody of this name has opened the class from the platform yet")
    outcome = send(folder, platform, "1")
    assert (outcome.sent, outcome.unchanged, len(platform.attempts)) == (0, 2, 2)


def test_a_grade_that_changed_is_sent_again_alone(folder, platform):
    send(folder, platform)
    with Classroom(folder.root / "class").gradebook() as book:
        grade(book, "bob", 5)
    assert send(folder, platform).sent == 1
    assert list_scores(platform) == [("7", 7.5, 8.0), ("8", 5.0, 8.0)]


def test_a_column_of_grades_is_made_once_and_found_again_behind_others(folder, platform):
    for label in ("Essay", "Quiz", "Exam"):
        platform.make_item(label)
    send(folder, platform)
    assert [item["resourceId"] for item in platform.items.values() if "resourceId" in item] == [LAB]
    forgetful = folder.launches
    forgetful.unlink()
    launches = Launches(forgetful)
    launches.admit("ada", "7", CONTEXT)
    launches.note_context(CONTEXT, f"{platform.url}{ITEMS}")
    send(folder, platform)
    assert len(platform.items) == 4


def test_a_column_that_a_launch_named_is_used(folder, platform):
    item = platform.make_item("Regression", most=100)
    Launches(folder.launches).note_item(CONTEXT, LAB, item)
    platform.grants = {SCOPE("score")}  # this tool may not see or make columns
    assert send(folder, platform).sent == 2
    assert {number for number, _ in platform.scores} == {"1"}


def test_a_column_that_was_deleted_on_the_platform_is_made_once_more_and_gets_every_score(folder, platform):
    send(folder, platform)
    platform.items.clear()
    platform.scores.clear()
    outcome = send(folder, platform)
    assert (outcome.sent, outcome.unchanged, len(outcome.failures)) == (2, 0, 1)
    assert len(platform.items) == 1 and list_scores(platform) == [("7", 7.5, 8.0), ("8", 3.0, 8.0)]
    assert send(folder, platform).unchanged == 2


def test_a_column_that_a_launch_named_stays_while_the_platform_has_it(folder, platform):
    Launches(folder.launches).note_item(CONTEXT, LAB, platform.make_item("Regression", most=100))
    del platform.users["7"]
    assert send(folder, platform).sent == 1
    assert len(platform.items) == 1


def test_a_score_that_the_platform_refuses_is_one_sentence_and_the_others_arrive(folder, platform):
    del platform.users["7"]
    outcome = send(folder, platform)
    assert outcome.sent == 1
    assert outcome.failures[0].startswith("ada: the platform refused the score (status 404: this user is not in")
    platform.enrol("7")
    assert send(folder, platform).sent == 1
    assert list_scores(platform) == [("7", 7.5, 8.0), ("8", 3.0, 8.0)]


def test_a_tool_without_a_permission_reads_what_to_permit(folder, platform):
    platform.grants = set()
    failures = send(folder, platform).failures
    assert len(failures) == 3 and "ada: the platform gives this class no access to its grades" in failures[0]
    assert [request.path for request in platform.requests].count("/token") == 1


def test_another_key_gets_no_token(folder, platform):
    folder.tool_key.unlink()
    assert "invalid_client" in send(folder, platform).failures[0]
    assert not platform.attempts


def test_a_score_that_waits_for_a_person_is_pending(folder, platform):
    with Classroom(folder.root / "class").gradebook() as book:
        book.find_grade("ring-check", LAB, LAB, "ada").needs_manual_grade = True
        book.db.commit()
    send(folder, platform)
    assert {each["userId"]: each["gradingProgress"] for each in platform.attempts} == {
        "7": "PendingManual",
        "8": "FullyGraded",
    }


def test_a_platform_that_is_down_costs_nothing(folder, platform):
    platform.stop()
    try:
        with pytest.raises(Problem, match=r"does not answer at 127.*: 0 of 3 scores were sent\. Run the same command"):
            send(folder, platform)
    finally:
        platform.start()
    assert send(folder, platform).sent == 2


@pytest.fixture
def service(tmp_path):
    """The platform's services at an address where something else answers, as `answers` says: address -> Response."""
    folder = Folder(tmp_path / "ml")
    folder.prepare()
    with lti_grades.Platform({"client_id": CLIENT, "token_url": "https://platform.example/token"}, folder) as service:
        service.answers = {}
        service.client = httpx.Client(transport=httpx.MockTransport(lambda request: service.answers[request.url.path]))
        yield service


@pytest.mark.parametrize("content", [b"<html>Log in</html>", b"[]", b"{}", b'{"access_token": 5}'])
def test_a_page_that_answers_in_the_platforms_place_is_one_sentence(service, content):
    service.answers["/token"] = httpx.Response(200, content=content)
    with pytest.raises(lti_grades.Refusal, match=r"not the platform's service|lacks access_token"):
        service.make_item("https://platform.example/items", LAB, 10)


def test_a_list_of_columns_that_never_ends_is_left(service):
    service.answers["/token"] = httpx.Response(200, json={"access_token": "x"})
    service.answers["/items"] = httpx.Response(200, json=[{"id": 5}, 7], headers={"Link": '</items>; rel="next"'})
    assert service.find_item("https://platform.example/items", LAB) is None


def test_a_lab_without_grades_and_accounts_of_another_kind_are_one_sentence(folder, platform):
    with pytest.raises(Problem, match=r"no hand-in of 04-.* has been graded"):
        send(folder, platform, "4")
    with pytest.raises(Problem, match='only where kind = "lti"'):
        lti_grades.send(folder, SimpleNamespace(accounts={"kind": "csv"}), LAB)
