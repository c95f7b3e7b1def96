"""What axe-core, a checker of accessibility, finds on a page."""

from importlib.resources import files

from playwright.sync_api import Page

_SCRIPT = files("axe_playwright_python").joinpath("axe.min.js").read_text()
_STREAMLITS = [".katex-display", "[data-testid=stSidebarNavItems]", "[data-testid=stFileUploaderDropzone]"]
_RUN = """async (exclude) => {
  const runOnly = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const rules = { "target-size": { enabled: true } };
  const { violations } = await axe.run({ exclude }, { runOnly, rules, resultTypes: ["violations"] });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}"""


def violations(page: Page) -> list[str]:
    """Return what breaks WCAG 2.2, AA, or axe's best practice, as "rule: element"."""
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(_SCRIPT)
    return page.evaluate(_RUN, _STREAMLITS)
