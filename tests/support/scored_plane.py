"""The plane of "What a score measures" in a browser: its arrows, shares and sentence."""

SENTENCE = "[data-testid=stMarkdown] p:has-text('Largest weight to')"


def tip_of(page, arrow):
    return page.locator(f'.tip[data-place="{arrow}"]')


def middle_of(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def point_in_plane(page, x, y):
    """Screen position of a point in the plane, which runs from -4.4 to 4.4."""
    box = page.locator("svg[role=group]").bounding_box()
    return box["x"] + box["width"] * (0.5 + x / 8.8), box["y"] + box["width"] * (0.5 - y / 8.8)


def drag_to(page, arrow, x, y):
    page.mouse.move(*middle_of(tip_of(page, arrow)))
    page.mouse.down()
    page.mouse.move(*point_in_plane(page, x, y), steps=6)


def shares_in_table(page):
    """The shares that the dot product gives, in per cent; 0 for one below 1."""
    texts = page.locator(".cell.now").all_inner_texts()
    return [0.0 if text.startswith("<") else float(text.lstrip(">").rstrip("%")) for text in texts]


def show_all(page):
    page.get_by_role("button", name="With five more scores: do all eight agree?").click()
    page.locator(SENTENCE).wait_for()


FIELDS = "document.querySelector('[data-testid=stVegaLiteChart] svg').innerHTML"
