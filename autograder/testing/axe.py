"""Pages in a real browser: what axe finds by WCAG 2.1 A and AA, whether they scroll sideways, what they fetch.

Used by the tests and by `course bench book`. axe comes from an installed package; nothing is fetched from a network.
"""

from itertools import product

from axe_playwright_python.sync_playwright import Axe

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
# No preloading: axe would wait for style sheets that a browser does not let it read from files.
OPTIONS = {"runOnly": {"type": "tag", "values": TAGS}, "resultTypes": ["violations"], "preload": False}
# Contrast takes most of axe's time, and in code, where each token is an element, nearly all of it. CONTRAST looks at
# every text, also in code, and takes no time; it knows neither transparency nor pictures behind text.
CONTEXT = {"exclude": [["pre"]]}
FAST = OPTIONS | {"rules": {"color-contrast": {"enabled": False}}}
CONTRAST = """() => {
  const parts = colour => colour.match(/[\\d.]+/g).map(Number);
  const luminance = colour => parts(colour).slice(0, 3).map(part => part / 255)
    .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const paper = node => {
    for (; node; node = node.parentElement) {
      const colour = getComputedStyle(node).backgroundColor;
      if (parts(colour)[3] !== 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const found = new Set();
  for (const pre of document.querySelectorAll("pre"))
    if (pre.scrollWidth > pre.clientWidth && pre.tabIndex < 0) found.add("code scrolls out of the keyboard's reach");
  for (const node of document.body.querySelectorAll("*")) {
    if (!node.checkVisibility({visibilityProperty: true})) continue;
    if (![...node.childNodes].some(each => each.nodeType === 3 && each.data.trim())) continue;
    const [ink, back] = [getComputedStyle(node).color, paper(node)];
    const [low, high] = [luminance(ink), luminance(back)].sort((a, b) => a - b);
    if ((high + 0.05) / (low + 0.05) < 4.5) found.add(`${node.localName} is ${ink} on ${back}, a contrast below 4.5`);
  }
  return [...found];
}"""
WIDTHS = {"desktop": 1280, "phone": 390}
SCHEMES = ("light", "dark")
VIEWS = list(product(WIDTHS, SCHEMES))
# The layout depends on the width and colours on the scheme, so these two views show each of both.
DIAGONAL = [("desktop", "light"), ("phone", "dark")]


def find_violations(tab, path, views=VIEWS, options=OPTIONS):
    """One sentence per violation of the page at `path`.

    tab: a page of Playwright, whose viewport and colour scheme are changed. views: pairs of width and scheme.
    """
    found, fetched = [], []
    name = f"{path.parent.name}/{path.name}"

    def note(request):
        if not request.url.startswith(("file:", "data:", "blob:", "about:")):
            fetched.append(request.url)

    tab.on("request", note)
    for device, scheme in views:
        tab.set_viewport_size({"width": WIDTHS[device], "height": 900})
        tab.emulate_media(color_scheme=scheme)
        tab.goto(path.as_uri())  # decks choose their layout and their colours while they load
        where = f"{name}, {device}, {scheme}"
        for violation in Axe().run(tab, context=CONTEXT, options=options).response["violations"]:
            targets = ", ".join(str(node["target"][0]) for node in violation["nodes"][:3])
            found.append(f"{where}: {violation['id']} at {len(violation['nodes'])} places: {targets}")
        found += [f"{where}: {each}." for each in tab.evaluate(CONTRAST)]
        if tab.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
            found.append(f"{where}: the page is wider than the window.")
    tab.remove_listener("request", note)
    return found + [f"{name} fetches {url}" for url in fetched]
