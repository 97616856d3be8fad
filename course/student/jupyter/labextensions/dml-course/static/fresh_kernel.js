/* A kernel of the extension's own, in the folder of a notebook: the notebook's kernel is neither needed nor changed. */

const MIME = "application/vnd.dml-course.validation+json";
const NEEDS_COURSE = "The course is not installed for this notebook's kernel. Choose another kernel, then try again.";

export class FreshKernel {
  static async start(app, panel) {
    const session = panel.sessionContext;
    const name = session.session?.kernel?.name || panel.content.model?.getMetadata("kernelspec")?.name || "python3";
    const path = app.serviceManager.contents.localPath(panel.context.path);
    const kernel = await app.serviceManager.kernels.startNew({ name, path });
    return new FreshKernel(kernel, path.split("/").at(-1));
  }

  constructor(kernel, file) {
    this.kernel = kernel;
    this.file = file;
    this.isClosed = false;
  }

  /* Run Python code, and call onEvent for each event that it publishes. Rejects if the kernel ends before the code. */
  async run(code, onEvent) {
    const future = this.kernel.requestExecute({ code, store_history: false, allow_stdin: false });
    let problem = null;
    future.onIOPub = (message) => {
      const event = message.content.data?.[MIME];
      if (event) {
        onEvent(event);
      } else if (message.header.msg_type === "error") {
        problem = message.content.ename === "ModuleNotFoundError" ? NEEDS_COURSE : message.content.evalue;
      }
    };
    const ended = new Promise((_, reject) => {
      this.kernel.statusChanged.connect((_, status) => {
        if (status === "dead" || status === "autorestarting") {
          reject(new Error("The kernel ended while this ran: a task may have used too much memory or called exit()."));
        }
      });
      this.kernel.disposed.connect(() => reject(new Error("Stopped.")));
    });
    await Promise.race([future.done, ended]);
    if (problem !== null) {
      throw new Error(problem);
    }
  }

  /* Run the visible checks of the notebook. */
  validate(onEvent) {
    return this.run(`from course.student import validation\nvalidation.publish(${quote(this.file)})`, onEvent);
  }

  /* End the kernel, and with it everything that it started. */
  async close() {
    if (!this.isClosed) {
      this.isClosed = true;
      await this.kernel.shutdown().catch(() => {});
      this.kernel.dispose();
    }
  }
}

/* Text as a literal of Python; None for null. */
export function quote(text) {
  return text === null ? "None" : JSON.stringify(text);
}

/* Save a notebook, so that the checks and the hand-in see what the page shows. */
export async function save(panel) {
  await panel.context.ready;
  if (panel.context.model.readOnly) {
    return;
  }
  await panel.context.save();
}
