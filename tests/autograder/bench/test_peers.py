"""The rows of `course bench peers`. Running the peers' tests is for tests/peers."""

from autograder.bench import peers
from autograder.testing.peer_tests import OUR_ENGINES


def test_a_test_that_fails_on_the_courses_engines_only_is_named_in_the_row(monkeypatch):
    failed = {(): {"TestView::test_a"}, ("-p", OUR_ENGINES): {"TestView::test_a", "TestView::test_b"}}
    monkeypatch.setattr(peers, "run_tests", lambda module, *options: (7, failed[options]))
    row = peers.compare_engines("view")
    assert row["suite"] == "ipyparallel 9.2.0 test_view"
    assert (row["run"], row["failed_stock"], row["failed_ours"], row["only_ours"]) == (7, 1, 2, 1)
    assert row["names"] == "TestView::test_b"
    assert not peers.summary([row])["met"]


def test_a_difference_that_has_its_reason_is_counted_and_met(monkeypatch):
    (name, *_) = peers.DIFFERENT
    monkeypatch.setattr(peers, "run_tests", lambda module, *options: (7, {name} if options else set()))
    row = peers.compare_engines("client")
    assert (row["only_ours"], row["explained"], row["names"]) == (0, 1, name)
    assert peers.summary([row, {"run": 3, "only_ours": 0}])["met"]
