/* Making elements of the page. Text is always set as text, so that nothing from a notebook is read as HTML. */

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else if (value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children);
  return element;
}

export function makeButton(text, press, kind = "") {
  return make("button", { type: "button", class: `dml-Button ${kind}`, onclick: press }, text);
}

/* A line that screen readers read out whenever it changes. */
export function makeStatus() {
  return make("p", { role: "status", class: "dml-Status" });
}
