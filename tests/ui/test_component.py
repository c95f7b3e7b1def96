"""Components' scripts: modules that find each other as files, and that one script holds as well."""

import asyncio
import re
import shutil
import subprocess
from pathlib import Path
from threading import Event

import pytest
from starlette.requests import Request

from attention_core.attention.view import assets
from attention_core.attention.view.assets import bundle, modules_of, rules_of
from attention_core.files import find_file
from ui import component, served

ROOT = find_file("pages").parent
FILES = sorted(path for folder in ("attention_core", "pages", "ui") for path in ROOT.glob(f"{folder}/**/*.js"))
PLACES = [path.relative_to(ROOT).as_posix() for path in FILES]
COMPONENTS = [place for place, path in zip(PLACES, FILES, strict=True) if "\nexport default " in path.read_text()]
NODE = shutil.which("node")


READ_MODULES = """
const { SourceTextModule } = require("vm"), { readFileSync } = require("fs");
for (const path of process.argv.slice(1)) new SourceTextModule(readFileSync(path, "utf8"), { identifier: path });
"""


def said_by_node(path: Path, script: str) -> str:
    path.write_text(script, encoding="utf-8")
    return subprocess.run([NODE, str(path)], check=True, capture_output=True, text=True).stdout.strip()


SHARED = """// Shared.
const UNIT = 2, SEEN = [];
export const twice = (n) => {
  SEEN.push(n);
  return UNIT * n;
};

export { SEEN };
"""
PART = """import { SEEN, twice } from "../shared.js";

const UNIT = 1;
export class Part {
  all() { return [twice(UNIT), ...SEEN]; }
}
"""
WHOLE = """import { twice } from "../shared.js";
import { Part } from "./part.js";

export default function () {
  return [twice(5), ...new Part().all()];
}
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The place of a module, which takes others from beside it and above it, in a repository of their own."""
    monkeypatch.setattr(assets, "find_file", lambda place: tmp_path / place)
    (tmp_path / "page").mkdir()
    for name, text in (("shared", SHARED), ("page/part", PART), ("page/whole", WHOLE)):
        (tmp_path / f"{name}.js").write_text(text)
    return "page/whole.js"


@pytest.mark.skipif(not NODE, reason="no node")
def test_one_script_does_what_its_modules_do_and_each_keeps_its_own_names(place, tmp_path):
    modules = modules_of(place)
    assert [module.name for module in modules] == ["shared", "part", "whole"]
    script = f"{bundle(modules)}\nconsole.log(JSON.stringify(modules.at(-1).default()));"
    assert not re.search("^(import|export)|//", script, re.MULTILINE)
    assert said_by_node(tmp_path / "one.mjs", script) == "[10,2,5,1]"
    for module in modules:
        text = module.file(lambda place: f"./{Path(place).stem}.mjs")
        (tmp_path / f"{module.name}.mjs").write_text(text, encoding="utf-8")
    loads = 'import whole from "./whole.mjs";\nconsole.log(JSON.stringify(whole()));'
    assert said_by_node(tmp_path / "files.mjs", loads) == "[10,2,5,1]"


@pytest.mark.parametrize(
    "line",
    [
        'import * as all from "../shared.js";',
        'import "../shared.js";',
        'import { twice as two } from "../shared.js";',
        'import { twice } from "../shared.js"',
        'import { twice } from "https://example.org/shared.js";',
        "export let count = 0;",
        "export function count() {}",
        'export { twice } from "../shared.js";',
    ],
)
def test_another_form_of_import_or_export_is_refused(place, tmp_path, line):
    (tmp_path / "page/part.js").write_text(f"{line}\n")
    with pytest.raises(ValueError, match=re.escape(repr(line))):
        modules_of(place)


def test_a_module_that_needs_itself_or_a_name_that_is_not_exported_is_refused(place, tmp_path):
    (tmp_path / "shared.js").write_text('import { Part } from "./page/part.js";\n')
    with pytest.raises(ValueError, match=r"shared\.js imports itself, by way of page/part\.js"):
        modules_of(place)
    (tmp_path / "shared.js").write_text("export const once = 1, twice = (n) => 2 * n, SEEN = [];\n")
    with pytest.raises(ValueError, match=re.escape("page/whole.js: shared.js exports no twice")):
        modules_of(place)


def test_every_component_is_one_script(tmp_path):
    paths = [tmp_path / f"{place.replace('/', '-')}.mjs" for place in COMPONENTS]
    for path, place in zip(paths, COMPONENTS, strict=True):
        modules = modules_of(place)
        assert modules[-1].exports == ("default",), place
        path.write_text(bundle(modules), encoding="utf-8")
    if NODE:
        subprocess.run([NODE, "--experimental-vm-modules", "-e", READ_MODULES, *map(str, paths)], check=True)


@pytest.mark.parametrize("place", PLACES)
def test_a_script_imports_from_its_own_folder_and_from_shared_ones(place):
    folder = place.rpartition("/")[0]
    shared = {"attention_core": (), "pages": ("ui/components/",), "ui": ("ui/components/",)}[place.partition("/")[0]]
    for _, needed in modules_of(place)[-1].imports:
        assert needed.startswith((f"{folder}/", f"{assets.VIEW_FOLDER}/", *shared)), needed


def test_a_style_sheet_beside_a_module_comes_with_it_behind_those_that_it_builds_on():
    rules = rules_of(modules_of("pages/vectors/nine_pairs.js"))
    sheets = ("attention_core/attention/view/prelude", "ui/components/vector_plane", "ui/components/plane_scene")
    places = [rules.index(find_file(f"{sheet}.css").read_text().splitlines()[0].strip()) for sheet in sheets]
    assert places == sorted(places)


def answer(name: str):
    return asyncio.run(component.route().endpoint(Request({"type": "http", "path_params": {"name": name}})))


def test_scripts_are_files_for_good_where_a_server_answers(monkeypatch):
    made = []
    monkeypatch.setattr(component.st.components.v2, "component", lambda name, **parts: made.append(parts["js"]) or dict)
    monkeypatch.setattr(served, "IS_SERVED", Event())
    draw = component.component.__wrapped__("next_words")
    draw(key="one")
    served.IS_SERVED.set()
    draw(key="one")
    draw(key="two")
    script, loads = made
    assert script.startswith(bundle(modules_of("ui/components/next_words.js")))
    prelude, name = re.findall(r"'([^']+\.js)'", loads)
    assert "\n" in loads, "Streamlit takes a single line for the name of a file"
    file = answer(name)
    assert (file.body.decode(), file.media_type) == (component.SCRIPTS[name], "text/javascript")
    assert f'from "./{prelude}";' in file.body.decode()
    assert "immutable" in file.headers["cache-control"]
    assert answer(prelude).status_code == 200
    assert answer("none.js").status_code == 404
