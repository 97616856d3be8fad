/* The course's part of JupyterLab, in the form in which JupyterLab loads extensions (webpack's module federation).
 *
 * It is written by hand and needs no build step. JupyterLab calls `init` with the modules that it shares, and then asks
 * for "./extension" and "./style". The code itself is in the modules beside this file.
 */
"use strict";

(() => {
  const folder = new URL(".", document.currentScript.src);
  let shared = {};

  /* JupyterLab's own copy of a package, or the newest one where another extension brings the only copies. */
  async function load(name) {
    const copies = Object.entries(shared[name] ?? {});
    copies.sort(([one], [other]) => one.localeCompare(other, undefined, { numeric: true }));
    const own = copies.find(([, copy]) => copy.from === "_JUPYTERLAB.CORE_OUTPUT") ?? copies.at(-1);
    if (own === undefined) {
      throw new Error(`dml-course: JupyterLab does not share ${name}.`);
    }
    return (await own[1].get())();
  }

  async function loadExtension() {
    const names = {
      application: "@jupyterlab/application",
      apputils: "@jupyterlab/apputils",
      notebook: "@jupyterlab/notebook",
      rendermime: "@jupyterlab/rendermime",
      widgets: "@lumino/widgets",
    };
    const [{ makePlugins }, ...modules] = await Promise.all([
      import(new URL("plugins.js", folder)),
      ...Object.values(names).map(load),
    ]);
    const lab = Object.fromEntries(Object.keys(names).map((key, number) => [key, modules[number]]));
    return { __esModule: true, default: makePlugins(lab) };
  }

  function loadStyle() {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = new URL("style.css", folder);
    document.head.append(link);
    return {};
  }

  window._JUPYTERLAB = window._JUPYTERLAB ?? {};
  window._JUPYTERLAB["dml-course"] = {
    init(scope) {
      shared = scope;
    },
    async get(name) {
      const module = name === "./extension" ? await loadExtension() : loadStyle();
      return () => module;
    },
  };
})();
