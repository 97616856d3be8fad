/* What the course adds to JupyterLab: the Validate command, the hand-in button, a sidebar that starts closed, a mark
 * on cells that run, which a collapsed cell would not show, verdicts that stay in view, and links to the glossary. */
import { makeButton } from "./elements.js";
import { MIME, makeHandIn } from "./hand_in.js";
import { makeValidatePanel } from "./validate_panel.js";

const VALIDATE = "dml-course:validate";
const NARROW = 1400; // pixels: below this, a lab and the open sidebar do not fit beside each other
const PATIENCE = 10_000; // ms for the glossary to open
const PICTURE_LOADS = 300; // ms after which a picture below a verdict has its height
const VERDICT = 60; // pixels: the first lines of a verdict
const WAS_OPEN = "dml-course:sidebar";

/* Go to the glossary's entry until it is in view: JupyterLab looks for it only once, before a new page is complete. */
function showEntry(tracker, entry, deadline) {
  const page = tracker.currentWidget;
  if (page?.context.path.endsWith("glossary.ipynb")) {
    const place = page.node.querySelector(`[data-jupyter-id="${CSS.escape(entry)}"]`)?.getBoundingClientRect();
    if (place && place.top >= 0 && place.bottom <= window.innerHeight) {
      return;
    }
    page.setFragment(`#${entry}`);
  }
  if (Date.now() < deadline) {
    window.setTimeout(() => showEntry(tracker, entry, deadline), 300);
  }
}

export function makePlugins(lab) {
  const { ILabShell } = lab.application;
  const { ICommandPalette } = lab.apputils;
  const { INotebookTracker, NotebookActions } = lab.notebook;
  const { IRenderMimeRegistry } = lab.rendermime;

  const validate = {
    id: "dml-course:validate",
    description: "Validate: runs a lab's visible checks and lists its tasks.",
    autoStart: true,
    requires: [INotebookTracker],
    optional: [ICommandPalette, ILabShell],
    activate(app, tracker, palette, shell) {
      let panel = null;
      app.commands.addCommand(VALIDATE, {
        label: "Validate",
        caption: "Run the visible checks in a fresh kernel and list the tasks",
        isEnabled: () => tracker.currentWidget !== null,
        execute: () => {
          if (panel === null || panel.isDisposed) {
            panel = makeValidatePanel(lab, app);
          }
          if (!panel.isAttached) {
            app.shell.add(panel, "right");
          }
          if (window.innerWidth < NARROW) {
            shell?.collapseLeft(); // three columns would leave no room for the lab
          }
          app.shell.activateById(panel.id);
          return panel.validate(tracker.currentWidget);
        },
      });
      palette?.addItem({ command: VALIDATE, category: "Course" });
      app.docRegistry.addWidgetExtension("Notebook", {
        createNew(notebook) {
          const item = new lab.widgets.Widget();
          item.addClass("dml-Toolbar");
          const button = makeButton("Validate", () => {
            app.shell.activateById(notebook.id);
            app.commands.execute(VALIDATE);
          });
          button.title = app.commands.caption(VALIDATE);
          item.node.append(button);
          if (!notebook.toolbar.insertBefore("spacer", "dml-course-validate", item)) {
            notebook.toolbar.addItem("dml-course-validate", item);
          }
          return item;
        },
      });
    },
  };

  const handIn = {
    id: "dml-course:hand-in",
    description: "The hand-in button, which needs no kernel of the notebook.",
    autoStart: true,
    requires: [INotebookTracker, IRenderMimeRegistry],
    activate(app, tracker, registry) {
      const createRenderer = (options) => makeHandIn(lab, app, tracker, options);
      registry.addFactory({ safe: true, mimeTypes: [MIME], createRenderer }, -20); // before widgets, which have -10
    },
  };

  const sidebar = {
    id: "dml-course:sidebar",
    description: "The left sidebar starts closed in a narrow window.",
    autoStart: true,
    optional: [ILabShell], // Jupyter Notebook has none
    activate(app, shell) {
      if (!shell) {
        return;
      }
      // After a reload, it stays as the reader left it.
      window.addEventListener("pagehide", () => {
        window.sessionStorage.setItem(WAS_OPEN, shell.leftCollapsed ? "" : "yes");
      });
      app.restored.then(() => {
        if (window.innerWidth < NARROW && !window.sessionStorage.getItem(WAS_OPEN)) {
          shell.collapseLeft();
        }
      });
    },
  };

  /* A picture below the verdict, and the next cell, which Shift+Enter selects, may have pushed it out of view. */
  function showVerdict(cell) {
    const verdict = [...cell.querySelectorAll("[data-mime-type='application/vnd.jupyter.stderr']")].pop();
    const view = cell.closest(".jp-NotebookPanel-notebook")?.getBoundingClientRect();
    const top = verdict?.getBoundingClientRect().top;
    if (view && (top < view.top || top > view.bottom - VERDICT)) {
      verdict.scrollIntoView({ block: "start" });
    }
  }

  const running = {
    id: "dml-course:running",
    description: "A collapsed check says that it runs, and the verdict of one that fails is in view.",
    autoStart: true,
    activate() {
      NotebookActions.executionScheduled.connect((_, { cell }) => cell.node.setAttribute("aria-busy", "true"));
      NotebookActions.executed.connect((_, { cell, success }) => {
        cell.node.removeAttribute("aria-busy");
        if (!success && cell.model.id.endsWith("-check")) {
          setTimeout(() => showVerdict(cell.node), PICTURE_LOADS);
        }
      });
    },
  };

  const glossary = {
    id: "dml-course:glossary",
    description: "A link to the glossary leads to its entry, also if the glossary was not open.",
    autoStart: true,
    requires: [INotebookTracker],
    activate(app, tracker) {
      const onClick = (event) => {
        const entry = event.target.closest?.("a[href*='glossary.ipynb']")?.href.split("#")[1];
        if (entry) {
          showEntry(tracker, decodeURIComponent(entry), Date.now() + PATIENCE);
        }
      };
      document.addEventListener("click", onClick, { capture: true }); // JupyterLab opens the page afterwards
    },
  };

  return [validate, handIn, sidebar, running, glossary];
}
