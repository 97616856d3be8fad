"""What the notebook knows of carriers: it imports none of their libraries, and each carrier is one entry."""

import dataclasses
import inspect
import subprocess
import sys

import pytest

from course import cluster
from course.comm import carriers, simulated
from course.comm.carrier import Carrier, EngineCarrier
from course.comm.carriers import ON_ENGINES, CarrierKind, Library
from course.errors import Problem
from course.spmd import spmd


class SomeEngines(list):
    """Stands for a view of engines."""

    launcher = horovod_ranks = None


@pytest.fixture
def horovod_is_installed(monkeypatch):
    monkeypatch.setattr(carriers.HorovodKind, "find_missing", lambda self: "")


def test_the_notebook_imports_no_library_of_a_carrier():
    code = (
        "import sys, course.spmd, course.comm.watch, course.comm.carriers\n"
        "print([name for name in ('torch', 'mpi4py', 'horovod') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.parametrize("name", ["local", "torch"])
def test_a_carrier_on_engines_fulfils_the_contract(name):
    carrier = ON_ENGINES[name].load()
    assert issubclass(carrier, EngineCarrier) and not inspect.isabstract(carrier)


def test_a_simulated_rank_fulfils_the_contract_of_a_carrier_and_is_none_on_engines():
    assert issubclass(simulated.Rank, Carrier) and not issubclass(simulated.Rank, EngineCarrier)
    assert not inspect.isabstract(simulated.Rank)


def test_every_method_of_the_contract_says_what_it_does():
    for kind in (Carrier, EngineCarrier):
        for name in kind.__abstractmethods__:
            assert inspect.getdoc(getattr(kind, name)), name


def test_one_entry_is_all_that_a_new_carrier_needs(monkeypatch):
    pigeons = dataclasses.replace(ON_ENGINES["local"], name="pigeon", label="pigeons")
    monkeypatch.setitem(ON_ENGINES, "pigeon", pigeons)
    cluster.start(2)
    try:
        run = spmd(lambda comm: comm.barrier() or type(comm._carrier).__name__, ranks=2, carrier="pigeon", timeout=60)
    finally:
        cluster.stop()
    assert run == ["SocketCarrier"] * 2 and run.trace.carrier == "pigeon"
    assert carriers.list_usable()["pigeon"] == "pigeons"


def test_ranks_are_the_first_engines_and_there_must_be_enough_of_them():
    kind = CarrierKind("some", "nowhere:Nothing", "nothing")
    assert kind.choose_engines(SomeEngines("abc"), 2) == [0, 1] and kind.count_ranks(SomeEngines("abc")) == 3
    with pytest.raises(Problem, match="4 ranks need 4 engines, and 3 are running"):
        kind.choose_engines(SomeEngines("abc"), 4)


def test_engines_that_do_not_suit_a_carrier_are_refused_with_the_way_to_start_others():
    with pytest.raises(Problem, match=r'carrier="mpi" does not work .* cluster\.start\(2, launcher="mpi"\)'):
        ON_ENGINES["mpi"].choose_engines(SomeEngines("abc"), 2)


def test_horovods_ranks_are_the_engines_that_were_chosen_in_their_order(horovod_is_installed):
    engines, kind = SomeEngines("abc"), ON_ENGINES["horovod"]
    assert kind.choose_engines(engines, 2) == [0, 1] and kind.count_ranks(engines) == 3
    engines.horovod_ranks = [2, 0]
    assert kind.choose_engines(engines, 2) == [2, 0] and kind.count_ranks(engines) == 2
    with pytest.raises(Problem, match=r"horovod\.start chose 2, rank 0 on engine 2, rank 1 on engine 0"):
        kind.choose_engines(engines, 3)


def test_a_call_of_a_library_is_told_from_its_import_and_from_the_students_code():
    library = ON_ENGINES["horovod"].library
    installed = f"{simulated.COMM.rpartition('course')[0]}course/horovod/torch/mpi_ops.py"  # not a student's file
    student = "/home/someone/horovod/lab.py"
    assert library.is_called_in([(installed, 7, "synchronize"), (student, 3, "train")])
    assert not library.is_called_in([(installed, 1, "<module>"), (student, 3, "train")])
    assert not library.is_called_in([(student, 3, "train")])
    assert not library.is_joined_in([(installed, 7, "synchronize")])
    assert library.is_joined_in([(installed.replace("torch/mpi_ops", "common/basics"), 7, "init")])
    assert not Library("Other", "/horovod/").is_joined_in([(installed, 7, "init")])


def test_without_torch_its_carrier_is_refused_in_one_sentence_and_not_listed(monkeypatch):
    monkeypatch.setattr(carriers.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Problem, match=r'carrier="torch" needs the package torch, which is not installed: .*"local"'):
        ON_ENGINES["torch"].choose_engines(SomeEngines("abc"), 2)
    assert "torch" not in carriers.list_usable() and "local" in carriers.list_usable()
