"""A class on a real Hub: three students and an instructor, from the first log-in to feedback, and what none may do."""

import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from autograder.classroom.folder import Folder
from autograder.classroom.hub import FIRST_UNPRIVILEGED
from autograder.testing.browser import PATIENCE, start_chromium
from autograder.testing.classroom import LogInFailed, Student, serving
from course.command import main
from course.home import HOME

pytestmark = pytest.mark.long
LAB = "01-regression"
STUDENTS = ["ada,first-of-ada,,Team A", "bob,first-of-bob,,Team A", "eve,first-of-eve"]
CROWD = [f"s{number},first-of-s{number}" for number in range(2 * os.cpu_count() + 2)]  # two more than start at once


@pytest.fixture(scope="module")
def class_(tmp_path_factory):
    """A class that is served; at the end no process may be left."""
    with serving(tmp_path_factory.mktemp("served") / "ml", STUDENTS + CROWD) as class_:
        yield class_


@pytest.fixture(scope="module")
def students(class_):
    """Ada, Bob and Eve, each with a server."""
    students = [Student(class_.url, line.split(",")[0]) for line in STUDENTS]
    for student in students:
        student.log_in(f"first-of-{student.name}")
        student.start()
    class_.note_processes()
    return students


def read_json(student, code):
    """What code prints as JSON in the student's kernel."""
    output = student.run(code)
    try:
        return json.loads(output)
    except ValueError:
        raise AssertionError(output) from None


def test_only_the_right_password_opens_an_account(class_):
    for name, password in (("ada", "wrong"), ("ada", ""), ("ada", "x" * 100), ("nobody", "first-of-ada")):
        with pytest.raises(LogInFailed):
            Student(class_.url, name).log_in(password)


def test_labs_are_in_the_students_folder_and_nothing_is_written_into_the_clone(students):
    ada, _, _ = students
    names = {each["name"] for each in ada.read("")["content"]}
    assert {"index.ipynb", LAB, "feedback"} <= names
    home, work, writable = read_json(
        ada,
        f"import json, os; print(json.dumps([os.environ['HOME'], os.environ['COURSE_WORK'],"
        f" [path for path in ({str(HOME)!r}, {str(HOME / 'course')!r}, '/srv/feedback', '/etc', '/usr')"
        f" if os.access(path, os.W_OK)]]))",
    )
    assert (home, work, writable) == ("/home/ada", "/home/ada/work", [])


ATTACK = r"""
import glob, json, os, socket, urllib.error, urllib.request

def attempt(call):
    try:
        return call() or None
    except (OSError, urllib.error.URLError) as error:
        return None

def ask(url, token):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers={"Authorization": f"token {token}"})) as reply:
            return reply.read().decode()[:200] if reply.url == url else None
    except urllib.error.HTTPError as error:
        return None

mine, hub = os.environ["JUPYTERHUB_API_TOKEN"], os.environ["JUPYTERHUB_API_URL"]
won = {
    "homes": sorted(set(os.listdir("/home")) - {"eve"}),
    "clone": sorted(set(os.listdir(CLONE)) - {"course", "datasets", "labs", ".venv"}),
    "folder": attempt(lambda: os.listdir(FOLDER)),
    "inboxes": glob.glob("/srv/exchange/ml/inbound/*"),
    "feedback": os.listdir("/srv/feedback"),
    "environments": [
        path for path in glob.glob("/proc/[0-9]*/environ")
        if attempt(lambda: b"JUPYTERHUB_USER=ada" in open(path, "rb").read())
    ],
    "roots": [path for path in glob.glob("/proc/[0-9]*/root/home/ada") if attempt(lambda: os.listdir(path))],
    "files": [path for path in SECRETS if attempt(lambda: open(path, "rb").read())],
    "users": ask(f"{hub}/users/ada", mine),
    "all": ask(f"{hub}/users", mine),
    "tokens": ask(f"{hub}/users/ada/tokens", mine),
    "server": ask(f"{URL}/user/ada/api/contents", mine),
    "direct": ask(f"http://127.0.0.1:{PORT}/user/ada/api/contents", mine),
    "formgrader": ask(f"{URL}/services/formgrader/formgrader/api/submitted_notebooks/x/y", mine),
    "routes": ask(f"http://127.0.0.1:{PROXY}/api/routes", mine),
    "root": attempt(lambda: os.setuid(0) is None),
    "ports": attempt(lambda: socket.socket().bind(("127.0.0.1", 1000)) is None),
}
print(json.dumps(won))
"""


def test_a_student_sees_nothing_of_another_and_nothing_of_the_class(class_, students):
    ada, _, eve = students
    ada.run("open('/home/ada/work/secret', 'w').write('mine'); open('/tmp/secret', 'w'); open('/dev/shm/secret', 'w')")
    folder = Folder(class_.folder)
    ports = json.loads(folder.ports.read_text())
    port = read_json(ada, "import os; print(os.environ['JUPYTERHUB_SERVICE_URL'].split(':')[2].split('/')[0])")
    secrets = [
        "/home/ada/work/secret", str(folder.home("ada") / "work" / "secret"), "/tmp/secret", "/dev/shm/secret",
        str(folder.students), str(folder.hub / "jupyterhub.sqlite"), str(folder.root / "class" / "gradebook.db"),
        str(HOME / "solutions" / LAB / "lab.py"), "/etc/shadow",
    ]  # fmt: skip
    names = {
        "CLONE": str(HOME), "FOLDER": str(folder.root), "SECRETS": secrets, "URL": class_.url, "PORT": port,
        "PROXY": ports["proxy"],
    }  # fmt: skip
    won = read_json(eve, "\n".join(f"{name} = {value!r}" for name, value in names.items()) + ATTACK)
    if int(FIRST_UNPRIVILEGED.read_text()) <= 1000:
        won.pop("ports")  # as on machines where everybody may listen at any port
    assert not {name: value for name, value in won.items() if value}


def test_every_server_has_a_user_id_and_processes_of_its_own(students):
    seen = [read_json(s, "import json, os; print(json.dumps([os.getuid(), os.getpid()]))") for s in students]
    if os.geteuid() == 0:
        assert len({user for user, _ in seen}) == len(students)
    assert all(process < 1000 for _, process in seen)  # in a namespace that has begun with the server


def test_a_hand_in_is_graded_under_the_inboxs_name_and_its_feedback_comes_back(class_, students, capsys):
    ada, _, eve = students
    said = ada.run(f"from course.student import hand_in; print(hand_in.run_command({LAB!r}, '--no-check'))")
    assert "Handed in 01-regression, as it was saved, to the course ml as student ada" in said
    # Eve writes Ada's name on what she hands in.
    eve.run(
        "import glob, os; from course.student import hand_in; hand_in.run_command('01', '--no-check');"
        "path, = glob.glob('/srv/exchange/ml/inbound/*'); os.rename(path, path.replace('eve+', 'ada+'))"
    )
    assert main(["grade", str(class_.folder), "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["student"], row["lab"]) for row in lines[:-1]] == [("ada", LAB), ("eve", LAB)]
    page = f"{LAB}.html"
    assert page in [each["name"] for each in ada.read(f"feedback/{LAB}")["content"]]
    assert "points" in ada.read(f"feedback/{LAB}/{page}")["content"]
    assert eve.ask("GET", f"/user/ada/api/contents/feedback/{LAB}/{page}").status_code == 403


def test_formgrader_is_for_instructors_and_the_board_for_everybody(class_, students):
    teacher = Student(class_.url, "instructor")
    teacher.log_in(class_.first_password("instructor"))
    for student, status in ((teacher, 200), (students[0], 403)):
        page = student.client.get("/services/formgrader/")
        assert page.status_code == status, page.text[:500]
    page = students[0].client.get("/services/board/hub/log-in", params={"next": "/services/board/group"})
    assert "Team A" in page.text


def test_a_hub_that_is_killed_comes_back_and_servers_go_on(class_, students):
    ada, bob, _ = students
    ada.run("kept = 42")
    pid = read_json(ada, "import os; print(os.getpid())")
    os.kill(class_.find_hub().pid, signal.SIGKILL)
    class_.wait_for("The class: ", count=2)
    assert ada.run("print(kept)").strip() == "42" and read_json(ada, "print(os.getpid())") == pid
    bob.stop()
    bob.start()
    assert bob.run("print(1 + 1)").strip() == "2"


def test_stopping_a_server_ends_all_that_its_student_started(class_, students):
    _, bob, _ = students
    bob.run(
        "import subprocess; subprocess.Popen(['bash', '-c', 'exec -a bobs-daemon sleep 1000'], start_new_session=True)"
    )

    def running():
        found = []
        for each in psutil.process_iter(["cmdline"]):
            found += [each] if "bobs-daemon" in (each.info["cmdline"] or []) else []
        return found

    assert running()
    bob.stop()
    assert not running()


def log_in(browser, class_, name, password, path):
    """A page of the class that somebody opens, which makes them log in."""
    page = browser.new_context().new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{class_.url}{path}")
    page.fill("input[name=username]", name)
    page.fill("input[name=password]", password)
    page.press("input[name=password]", "Enter")
    return page


def test_people_log_in_with_a_browser_and_change_their_password(class_):
    with start_chromium() as browser:
        page = log_in(browser, class_, "eve", "first-of-eve", "/")
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        assert page.url.startswith(f"{class_.url}/user/eve/lab/tree/index.ipynb")
        page.goto(f"{class_.url}/hub/change-password")
        page.fill("#old_password_input", "first-of-eve")
        for field in ("#new_password_input", "#new_password_confirmation_input"):
            page.fill(field, "second-of-eve")
        page.click("#signup_submit")
        page.wait_for_selector("text=changed successfully")
        password = class_.first_password("instructor")
        page = log_in(browser, class_, "instructor", password, "/hub/login?next=/services/formgrader/")
        page.wait_for_selector(f"td >> text={LAB}")
        page.goto(f"{class_.url}/services/formgrader/formgrader/gradebook/{LAB}/{LAB}")
        page.wait_for_selector("text=Submission #1")
    with pytest.raises(LogInFailed):
        Student(class_.url, "eve").log_in("first-of-eve")
    Student(class_.url, "eve").log_in("second-of-eve")


def test_a_class_that_logs_in_at_the_same_time_gets_its_servers_and_nobody_is_sent_away(class_):
    def work(line):
        student = Student(class_.url, line.split(",")[0])
        student.log_in(f"first-of-{student.name}")
        student.start()
        return student

    with ThreadPoolExecutor(len(CROWD)) as pool:
        students = list(pool.map(work, CROWD))
        class_.note_processes()
        list(pool.map(Student.stop, students))
