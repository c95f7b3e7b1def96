"""Scripts and style sheets of views, as they are sent to a browser: modules, each a file, or one script of all of them.

A script is a module whose imports come first. `import { names } from "./file.js";`, `export const`, `export class`,
`export { names };` and `export default` are all that it may write of modules, each at the beginning of a line.
One module is no file: colours.js, which colours.py writes.
"""

import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from attention_core.attention.view.colours import colours_script
from attention_core.files import find_file

VIEW_FOLDER = "attention_core/attention/view"
IMPORT = re.compile(r'import (\{ \w+(?:, \w+)* \}) from "(\.[./\w]+\.js)";')
EXPORT = re.compile(r"export (?:(?:const|class) (\w+)\b.*|\{ (\w+(?:, \w+)*) \};|default .+)")


@dataclass(frozen=True)
class Module:
    """A script of the repository: its lines, the names that it exports, and of which modules it has others."""

    path: str
    lines: tuple[str, ...]
    exports: tuple[str, ...]
    imports: tuple[tuple[str, str], ...]  # names in braces, and where the module lies

    @property
    def name(self) -> str:
        return posixpath.basename(self.path).removesuffix(".js")

    def file(self, address_of: Callable[[str], str]) -> str:
        """Return it as a file that finds the modules of its imports, by where they lie, at such addresses."""
        imports = [f'import {names} from "{address_of(path)}";' for names, path in self.imports]
        return "\n".join([*imports, *self.lines])

    def part(self, number_of: Callable[[str], int]) -> str:
        """Return it as a part of one script, in which `modules` holds what those with smaller numbers export."""
        imports = [f"const {names} = modules[{number_of(path)}];" for names, path in self.imports]
        lines = [re.sub("^export default ", "const standard = ", line) for line in self.lines]
        lines = [line.removeprefix("export ") for line in lines if not line.startswith("export {")]
        returned = ", ".join("default: standard" if name == "default" else name for name in self.exports)
        return "\n".join(["modules.push((() => {", *imports, *lines, f"return {{ {returned} }};", "})());"])


def modules_of(path: str) -> list[Module]:
    """Return a script of the repository and all that it needs, each behind what it needs itself.

    Raises:
        ValueError: a line begins with import or export in another form than those above, a name that is imported is not
            exported, or a module needs itself.
    """
    modules: dict[str, Module] = {}

    def follow(path: str, *above: str) -> None:
        if path in above:
            raise ValueError(f"{path} imports itself, by way of {above[0]}")
        if path not in modules:
            module = _read(path)
            for names, needed in module.imports:
                follow(needed, path, *above)
                if missing := {*names[2:-2].split(", ")} - {*modules[needed].exports}:
                    raise ValueError(f"{path}: {needed} exports no {', '.join(sorted(missing))}")
            modules[path] = module

    follow(path)
    return list(modules.values())


def _read(path: str) -> Module:
    lines, exports, imports = list[str](), list[str](), list[tuple[str, str]]()
    is_generated = path == f"{VIEW_FOLDER}/colours.js"
    text = colours_script() if is_generated else find_file(path).read_text(encoding="utf-8")
    for line in text.splitlines():
        if match := IMPORT.fullmatch(line):
            imports.append((match[1], posixpath.normpath(posixpath.join(posixpath.dirname(path), match[2]))))
            continue
        if match := EXPORT.fullmatch(line):
            exports += [match[1]] if match[1] else match[2].split(", ") if match[2] else ["default"]
        elif line.startswith(("import", "export")):
            raise ValueError(f"{path}: {line!r} is no import or export in one of the forms that {__name__} names")
        if code := line.lstrip(" "):  # a browser needs neither indentation nor comments on lines of their own
            lines += [] if code.startswith("//") else [code]
    return Module(path, tuple(lines), tuple(exports), tuple(imports))


def bundle(modules: Sequence[Module]) -> str:
    """Return modules as one script, which needs no other file; `modules.at(-1)` holds what the last one exports."""
    numbers = {module.path: number for number, module in enumerate(modules)}
    return "\n".join(["const modules = [];", *(module.part(numbers.__getitem__) for module in modules)])


def rules_of(modules: Sequence[Module]) -> str:
    """Return the style sheets that lie beside modules, behind the one that all share."""
    beside = (module.path.removesuffix("js") + "css" for module in modules)
    sheets = dict.fromkeys([f"{VIEW_FOLDER}/prelude.css", *beside])
    texts = (find_file(sheet).read_text(encoding="utf-8") for sheet in sheets if find_file(sheet).exists())
    return "".join(re.sub("^ +", "", text, flags=re.MULTILINE) for text in texts)
