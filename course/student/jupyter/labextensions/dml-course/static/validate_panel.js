/* The panel of the Validate command: it runs the visible checks of a notebook in a fresh kernel and lists the tasks. */
import { make, makeButton, makeStatus } from "./elements.js";
import { FreshKernel, save } from "./fresh_kernel.js";
import { TaskList, jumpTo } from "./tasks.js";

export function makeValidatePanel(lab, app) {
  return new (class extends lab.widgets.Widget {
    constructor() {
      super();
      this.id = "dml-course-validate";
      this.title.label = "Validate";
      this.title.caption = "Validate: the verdicts of a lab's visible checks";
      this.title.closable = true;
      this.addClass("dml-Validate");
      this.heading = make("h2", {}, "Validate");
      this.status = makeStatus();
      this.tasks = new TaskList((name) => this.panel && jumpTo(app, this.panel, name));
      this.stopButton = makeButton("Stop", () => this.stop());
      this.againButton = makeButton("Validate again", () => this.validate(this.panel));
      const note = "Only the visible checks ran. Grading also tries other inputs.";
      this.node.append(
        this.heading,
        this.status,
        make("div", { class: "dml-Buttons" }, this.stopButton, this.againButton),
        this.tasks.node,
        make("p", { class: "dml-Note" }, note),
      );
      this.node.addEventListener("keydown", (event) => event.key === "Escape" && this.leave());
      this.setBusy(false);
    }

    onActivateRequest() {
      (this.kernel ? this.stopButton : this.againButton).focus();
    }

    onCloseRequest(message) {
      this.stop();
      super.onCloseRequest(message);
    }

    setBusy(isBusy) {
      this.stopButton.hidden = !isBusy;
      this.againButton.hidden = isBusy || !this.panel;
    }

    /* Save the notebook in `panel`, run its checks, and show what comes of them. */
    async validate(panel) {
      await this.stop();
      if (panel.isDisposed) {
        this.status.textContent = "The notebook is closed: open it, then choose Validate again.";
        return;
      }
      this.panel = panel;
      this.heading.textContent = `Validate ${panel.title.label.replace(/\.ipynb$/, "")}`;
      this.status.textContent = "Starting a fresh kernel …";
      this.tasks.setItems([]);
      let kernel = null;
      try {
        await save(panel);
        kernel = this.kernel = await FreshKernel.start(app, panel);
        this.setBusy(true);
        app.shell.activateById(this.id);
        await kernel.validate((event) => this.handle(event));
      } catch (error) {
        this.status.textContent = error.message;
      } finally {
        const hadFocus = this.stopButton === document.activeElement;
        if (kernel === null || this.kernel === kernel) {
          this.kernel = null;
          this.setBusy(false);
        }
        if (hadFocus) {
          this.tasks.focus();
        }
        await kernel?.close();
      }
    }

    handle(event) {
      if (event.event === "items") {
        this.tasks.setItems(event.items);
      } else if (event.event === "item") {
        this.tasks.setItem(event);
      }
      this.status.textContent =
        event.event === "summary" || event.event === "problem"
          ? event.text
          : `Running the checks: ${this.tasks.done} of ${this.tasks.total} …`;
    }

    async stop() {
      const kernel = this.kernel;
      this.kernel = null;
      await kernel?.close();
    }

    /* Go back to the notebook. */
    leave() {
      if (this.panel && !this.panel.isDisposed) {
        app.shell.activateById(this.panel.id);
        this.panel.content.activate();
      }
    }
  })();
}
