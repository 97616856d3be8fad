"""What a machine can carry: the arithmetic, and a real student measured on this machine."""

import psutil
import pytest

from autograder.classroom.limits import Limits
from autograder.classroom.plan import Need, Plan
from course.command import main

NEED = Need(idle=400, busy=1000)


def test_a_class_that_fits_is_said_to_fit():
    plan = Plan(students=60, cores=16, memory=64_000, need=NEED, limits=Limits(engines=64))
    assert plan.engines == 64 and plan.required == 60 * 400 + 16 * 600
    assert plan.is_possible
    assert plan.describe() == (
        "This machine has 16 cores and 64.0 GB of memory that are free now.\n"
        "One student, measured now, needs 400 MB while idle and 1000 MB while 4 engines train a network.\n"
        "The queue lends 64 engines at once, so 16 of 60 students can use 4 engines at the same time; the others wait "
        "in turn.\n"
        "60 students need 33.6 GB, which fits."
    )


def test_where_memory_is_short_fewer_engines_are_lent():
    plan = Plan(students=60, cores=16, memory=26_000, need=NEED, limits=Limits(engines=64))
    assert plan.engines == 12 and plan.is_possible
    assert plan.describe().endswith("Write engines = 12 below [limits] in classroom.toml.")


def test_where_memory_is_very_short_a_lab_with_five_engines_is_not_refused():
    plan = Plan(students=60, cores=2, memory=24_900, need=NEED, limits=Limits())
    assert plan.engines == 5 and plan.is_possible
    assert plan.describe().endswith("Write engines = 5 below [limits] in classroom.toml.")


def test_a_class_in_which_nobody_waits_is_not_told_that_others_wait():
    plan = Plan(students=1, cores=2, memory=64_000, need=NEED, limits=Limits(engines=8))
    assert "8 engines at once, which is enough for 4 engines for each student at the same time." in plan.describe()


def test_a_class_that_does_not_fit_is_told_how_many_would():
    plan = Plan(students=60, cores=2, memory=20_000, need=NEED, limits=Limits())
    assert not plan.is_possible
    assert plan.most_students == 48 and "There is room for 48." in plan.describe()
    assert Plan(48, 2, 20_000, NEED, Limits()).is_possible
    assert not Plan(49, 2, 20_000, NEED, Limits()).is_possible
    assert Plan(1, 2, 300, NEED, Limits()).most_students == 0


@pytest.mark.long
def test_one_student_is_measured_on_this_machine_and_leaves_no_process(capsys):
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    status = main(["classroom", "--plan", "1"])
    said = capsys.readouterr().out
    assert "1 student needs " in said and "which fits" in said and status == 0
    idle = int(said.partition("measured now, needs ")[2].partition(" MB")[0])
    assert idle <= 450, said
    assert {process.pid for process in psutil.Process().children(recursive=True)} <= before


def test_a_measurement_without_a_difference_makes_a_plan():
    plan = Plan(60, 16, 64_000, Need(idle=400, busy=400), Limits(engines=64))
    assert plan.engines == 64 and plan.most_students == 159 and plan.is_possible


def test_a_folder_that_is_no_class_has_no_limits_to_plan_with(capsys, tmp_path):
    assert main(["classroom", "--plan", "60", str(tmp_path / "clas")]) == 1
    error = capsys.readouterr().err
    assert f"{tmp_path / 'clas'} is no class: it has no classroom.toml" in error and error.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--plan", "0"], []])
def test_a_call_that_makes_no_sense_is_one_sentence(capsys, arguments):
    assert main(["classroom", *arguments]) == 1
    assert capsys.readouterr().err.count("\n") == 1
