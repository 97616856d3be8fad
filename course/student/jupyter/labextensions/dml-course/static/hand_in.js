/* The hand-in button in a lab's last cell. It needs no kernel of the notebook: it works after a restart, too. */
import { make, makeButton, makeStatus } from "./elements.js";
import { FreshKernel, quote, save } from "./fresh_kernel.js";
import { TaskList, jumpTo } from "./tasks.js";

export const MIME = "application/vnd.dml-course.hand-in+json";
const EXAMPLE = "the name or number by which your instructor knows you";

export function makeHandIn(lab, app, tracker, options) {
  return new (class extends lab.widgets.Widget {
    constructor() {
      super();
      this.addClass("dml-HandIn");
    }

    async renderModel(model) {
      this.name = String(model.data[MIME]?.lab ?? "");
      this.status = makeStatus();
      this.area = make("div", { class: "dml-HandIn-area" });
      this.button = makeButton(`Hand in ${this.name}`, () => this.begin(), "jp-mod-styled jp-mod-accept");
      // Keys that are pressed here must not reach the notebook, where letters are commands. Escape leads back to it.
      this.node.addEventListener("keydown", (event) => {
        event.stopPropagation();
        if (event.key === "Escape") {
          this.node.closest(".jp-Cell").focus();
        }
      });
      this.node.replaceChildren(this.button, this.status, this.area);
    }

    get panel() {
      return tracker.find((panel) => panel.node.contains(this.node));
    }

    show(text, ...elements) {
      this.status.textContent = text;
      this.area.replaceChildren(...elements);
    }

    /* Save, run the checks, and ask whether to hand in. */
    async begin() {
      this.button.disabled = true;
      try {
        this.show("Saving, and starting a fresh kernel …");
        await save(this.panel);
        await this.kernel?.close();
        this.kernel = await FreshKernel.start(app, this.panel);
        await this.kernel.run("from course import hand_in\nhand_in.publish_student()", (event) => {
          this.student = event;
        });
        await this.check();
      } catch (error) {
        await this.end(error.message);
      }
    }

    async check() {
      const tasks = new TaskList((name) => jumpTo(app, this.panel, name));
      const details = make("details", {}, make("summary", {}, "Tasks"), tasks.node);
      let summary = "";
      this.show("Running the visible checks …", details, makeButton("Stop and go back", () => this.goBack()));
      try {
        await this.kernel.validate((event) => {
          if (event.event === "items") {
            tasks.setItems(event.items);
          } else if (event.event === "item") {
            tasks.setItem(event);
            this.status.textContent = `Running the visible checks: ${tasks.done} of ${tasks.total} …`;
          } else {
            summary = event.text;
          }
        });
      } catch (error) {
        if (this.kernel === null) {
          return;
        }
        summary = `The checks could not be counted: ${error.message}`;
        await this.kernel.close();
        this.kernel = await FreshKernel.start(app, this.panel);
      }
      this.ask(summary, details);
    }

    /* Show the summary and the student's id, and let the student decide. */
    ask(summary, details) {
      const { student, isOpen, address } = this.student;
      const field = make("input", {
        type: "text", class: "jp-mod-styled", value: student, readonly: !isOpen, maxlength: 64, spellcheck: "false",
        autocomplete: "off", "aria-describedby": "dml-HandIn-help",
      });
      const form = make(
        "form",
        { onsubmit: (event) => event.preventDefault() || this.deliver(summary, isOpen ? field.value : null) },
        make("label", {}, "Student id ", field),
        make("p", { id: "dml-HandIn-help", class: "dml-Note" }, isOpen ? `Write ${EXAMPLE}.` : "Set by your instructor."),
        make("p", {}, address ? `Your hand-in goes to: ${address}` : ""),
        make(
          "div", { class: "dml-Buttons" },
          make("button", { type: "submit", class: "dml-Button jp-mod-styled jp-mod-accept" }, "Hand in now"),
          makeButton("Go back and work on", () => this.goBack(), "jp-mod-styled"),
        ),
      );
      this.show(summary, details, form);
      (student ? form.querySelector("[type=submit]") : field).focus();
    }

    async deliver(summary, student) {
      this.area.querySelectorAll("button").forEach((button) => (button.disabled = true));
      const code = `from course import hand_in\nhand_in.publish_hand_in(${quote(this.name)}, ${quote(student)})`;
      let done = { isDone: false, text: "Nothing was handed in." };
      try {
        await this.kernel.run(code, (event) => (done = event));
      } catch (error) {
        done.text = `Nothing was handed in: ${error.message}`;
      }
      if (!done.isDone && this.area.querySelector("form")) {
        this.status.textContent = done.text;
        this.area.querySelectorAll("button").forEach((button) => (button.disabled = false));
        this.area.querySelector("input").focus();
        return;
      }
      await this.end(`${summary}\n${done.text}\nYou may work on and hand in again: the last hand-in counts.`);
    }

    goBack() {
      return this.end("Nothing was handed in. Work on, and hand in when you are ready.");
    }

    async end(text) {
      const kernel = this.kernel;
      this.kernel = null;
      this.show(text);
      this.button.disabled = false;
      this.button.focus();
      await kernel?.close();
    }

    dispose() {
      this.kernel?.close();
      super.dispose();
    }
  })();
}
