/* The list of a lab's tasks with their verdicts: each is a button that jumps to the task's cell. */
import { make } from "./elements.js";

const WORDS = { passed: "passed", failed: "failed", empty: "empty", written: "written" };

export class TaskList {
  constructor(jump) {
    this.jump = jump;
    this.node = make("ul", { class: "dml-Tasks", "aria-label": "Tasks", onkeydown: (event) => this.move(event) });
    this.done = 0;
  }

  get total() {
    return this.node.children.length;
  }

  /* Show the names of all tasks, none of which has a verdict yet. */
  setItems(items) {
    this.done = 0;
    this.node.replaceChildren(
      ...items.map(({ name }) =>
        make("li", {}, this.makeTask("waiting", "·", name, "")),
      ),
    );
  }

  setItem({ number, verdict, mark, name, text }) {
    this.done += 1;
    const before = this.node.children[number].firstElementChild;
    const had_focus = before === document.activeElement;
    const task = this.makeTask(verdict, mark, name, text);
    before.replaceWith(task);
    if (had_focus) {
      task.focus();
    }
  }

  makeTask(kind, mark, name, text) {
    return make(
      "button",
      { type: "button", class: `dml-Task dml-mod-${kind}`, onclick: () => this.jump(name) },
      make("span", { class: "dml-Task-mark", "aria-hidden": "true" }, mark),
      make("span", { class: "dml-Task-name" }, name),
      make("span", { class: "dml-Task-word" }, WORDS[kind] ? ` ${WORDS[kind]} ` : " waiting "),
      make("span", { class: "dml-Task-text" }, text),
    );
  }

  /* The arrow keys go from task to task. */
  move(event) {
    const tasks = [...this.node.querySelectorAll("button")];
    const at = tasks.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: tasks.length - 1 }[event.key];
    if (at >= 0 && to !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      tasks[Math.min(Math.max(to, 0), tasks.length - 1)].focus();
    }
  }

  /* Focus the first task that is not passed. */
  focus() {
    const tasks = this.node.querySelectorAll("button");
    (this.node.querySelector(".dml-mod-failed, .dml-mod-empty") ?? tasks[0])?.focus();
  }
}

/* Select the cell of the task `name` in the notebook, and show it. */
export async function jumpTo(app, panel, name) {
  const notebook = panel.content;
  const index = notebook.widgets.findIndex((cell) => cell.model.getMetadata("nbgrader")?.grade_id === name);
  if (index < 0) {
    return;
  }
  app.shell.activateById(panel.id);
  notebook.deselectAll();
  notebook.mode = "command";
  notebook.activeCellIndex = index;
  await notebook.scrollToItem(index, "start");
  notebook.activate();
}
