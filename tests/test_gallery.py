"""The gallery's lines make its pictures."""

import re
from pathlib import Path
from xml.etree import ElementTree

from docs.gallery import ENTRY, PAGE, make_pictures

PICTURES = PAGE.parent / "gallery"


def words_of(picture: Path) -> list[str]:
    """Return what an SVG says in letters; numbers may differ in the last place between machines."""
    texts = [node.text or "" for node in ElementTree.parse(picture).iter() if node.tag.endswith("text")]
    return [text for text in texts if re.search("[A-Za-z]", text)]


def test_every_picture_of_the_gallery_comes_from_the_lines_above_it(tmp_path):
    assert [*make_pictures(tmp_path)]
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {path.name for path in PICTURES.iterdir()}
    assert len(names) == len(ENTRY.findall(PAGE.read_text())) == PAGE.read_text().count("\n## ")
    for name in names:
        assert words_of(tmp_path / name) == words_of(PICTURES / name) != [], name


def test_no_entry_has_more_than_ten_lines():
    for code, name in ENTRY.findall(PAGE.read_text()):
        assert len([line for line in code.splitlines() if line]) <= 10, name
