"""Pages in a real browser: what axe finds by WCAG 2.1 A and AA, whether they scroll sideways, what they fetch.

Used by the tests and by `course bench book`. axe comes from an installed package; nothing is fetched from a network.
"""

from axe_playwright_python.sync_playwright import Axe

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
# No preloading: axe would wait for style sheets that a browser does not let it read from files.
OPTIONS = {"runOnly": {"type": "tag", "values": TAGS}, "resultTypes": ["violations"], "preload": False}
# Each token of code is an element whose contrast axe computes: 20 seconds per chapter, for one palette on all pages.
CONTEXT = {"exclude": [["pre"]]}
SCHEMES = ("light", "dark")
WIDTHS = {"desktop": 1280, "phone": 390}


def find_violations(tab, path):
    """One sentence per violation of the page at `path`, in both schemes and at both widths.

    tab: a page of Playwright, whose viewport and colour scheme are changed.
    """
    found, fetched = [], []

    def note(request):
        if not request.url.startswith(("file:", "data:", "blob:", "about:")):
            fetched.append(request.url)

    tab.on("request", note)
    tab.goto(path.as_uri())
    for device, width in WIDTHS.items():
        tab.set_viewport_size({"width": width, "height": 900})
        for scheme in SCHEMES:
            tab.emulate_media(color_scheme=scheme)
            where = f"{path.parent.name}/{path.name}, {device}, {scheme}"
            for violation in Axe().run(tab, context=CONTEXT, options=OPTIONS).response["violations"]:
                targets = ", ".join(str(node["target"][0]) for node in violation["nodes"][:3])
                found.append(f"{where}: {violation['id']} at {len(violation['nodes'])} places: {targets}")
        if tab.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
            found.append(f"{path.parent.name}/{path.name}, {device}: the page is wider than the window.")
    tab.remove_listener("request", note)
    return found + [f"{path.parent.name}/{path.name} fetches {url}" for url in fetched]
