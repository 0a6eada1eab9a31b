"""Repair of XML text that parsers refuse although its meaning is plain."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass
from os.path import commonprefix

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32-le"),
         (codecs.BOM_UTF32_BE, "utf-32-be"), (codecs.BOM_UTF16_LE, "utf-16-le"),
         (codecs.BOM_UTF16_BE, "utf-16-be"))
_BARE = ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))      # how UTF-16 without a mark begins
_ENCODING = re.compile(rb"\A\s*<\?xml[^>]*?encoding\s*=\s*[\"']([\w.:-]+)")
_DECLARATION = re.compile(r"\A(\s*)<\?xml\b([^>]*?)(\?)?>")
_SOUND = re.compile(r"""\s+version\s*=\s*["']1\.[01]["']""")
_LARGEST = 1 << 22              # characters; a longer text is not searched for slips
_SHOWN = 40                     # characters of a slip that a message shows
# comments, CDATA sections, instructions, tags, and what is between them
_TOKEN = re.compile(r"""<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>"""
                    r"""|<[A-Za-z_/](?:[^<>"']|"[^"]*"|'[^']*')*>|[^<]+|<""", re.DOTALL)
_PREFIX = re.compile(r"""</?([A-Za-z_][\w.-]*):[A-Za-z_]|\s([A-Za-z_][\w.-]*):[\w.-]+\s*=""")
_XACRO = "http://www.ros.org/wiki/xacro"
_FORBIDDEN = re.compile("[\0-\b\v\f\x0e-\x1f\ufffe\uffff]")


@dataclass(frozen=True)
class Slip:
    """One slip: its line, what it is, and the text before and after."""

    line: int
    what: str
    before: str
    after: str
    harmless: bool = False  # nothing that a robot means depends on it


def decode(content: bytes) -> tuple[str, list[Slip]]:
    """The text of a file by its byte order mark, else by its declaration, else as UTF-8.

    Bytes that are none of it are read as Windows-1252, in which no text is wrong, and are slips.
    """
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return content[len(mark):].decode(encoding, errors="replace"), []
    declared = _ENCODING.match(content)
    name = declared[1].decode() if declared else "utf-8"
    encoding = next((bare for start, bare in _BARE if content.startswith(start)), name)
    try:
        if codecs.lookup(encoding).name.startswith("utf-16") and encoding == name:
            encoding = "utf-8"      # a declaration that can be read byte by byte is not in UTF-16
        return content.decode(encoding), []
    except (LookupError, ValueError) as error:
        text = content.decode("cp1252", errors="replace")
        if name != "utf-8" or not isinstance(error, UnicodeDecodeError):
            return text, [Slip(1, f"the text is not in the encoding {name!r} that it declares",
                               f"encoding={name!r}", "Windows-1252")]
        before, shown = content[:error.start], content[error.start:error.start + 1]
        return text, [Slip(before.count(b"\n") + 1, "bytes that are not UTF-8 are read as "
                           "Windows-1252", str(shown)[1:],
                           repr(shown.decode("cp1252", errors="replace")))]


def drop_declaration(text: str, indented: bool = False) -> tuple[str, list[Slip]]:
    """The text without byte order mark and `<?xml ...?>`, which say nothing that a decoded text
    needs; its lines are kept.

    What was wrong with them is a harmless slip; where the text may be `indented`, white space
    before them is none.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    found = _DECLARATION.match(text)
    if found is None:
        return text, []
    space, inside, closed = found.groups()
    fault = ("white space before the XML declaration" if space and not indented else
             "an XML declaration that is not closed by ?>" if closed is None else
             None if _SOUND.match(inside) else "an XML declaration without a version that exists")
    slips = [] if fault is None else [
        Slip(1 + space.count("\n"), fault, _shorten(found[0]), '<?xml version="1.0"?>', True)]
    return "\n" * found[0].count("\n") + text[found.end():], slips


def mend_slips(text: str, fails: Callable[[str], tuple[int, int] | None]) -> tuple[str, list[Slip]]:
    """The text with all slips that stop a parser mended, and the slips. `fails` returns the
    (line, column) at which a parser gives up, or None; the text may still fail for other
    reasons."""
    slips: list[Slip] = []
    where = None if len(text) > _LARGEST else fails(text)
    while where is not None:
        for what, rule in _RULES.items():
            mended, changes = rule(text)
            then = fails(mended) if changes else where
            if then is None or then > where:
                slips += [Slip(text[:at].count("\n") + 1, what, _shorten(before),
                               _shorten(after)) for at, before, after in changes]
                text, where = mended, then
                break
        else:
            break
    return text, slips


Change = tuple[int, str, str]                       # at which character, before, after
Rule = Callable[[str], tuple[str, list[Change]]]


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN - 4]} ..."


def _is_tag(token: str) -> bool:
    return token[0] == "<" and len(token) > 1 and token[1] not in "!?"


def _is_comment(token: str) -> bool:
    return token.startswith("<!--")


def _is_plain(token: str) -> bool:
    return token[0] != "<" or _is_tag(token)


def _everywhere(token: str) -> bool:
    return True


def _replace(pattern: str, new: str | Callable[[re.Match], str],
             where: Callable[[str], bool]) -> Rule:
    """A rule that replaces a pattern in the tokens that `where` picks; lines are kept."""
    compiled = re.compile(pattern, re.DOTALL)

    def apply(text: str) -> tuple[str, list[Change]]:
        parts, changes, at = [], [], 0
        for token in _TOKEN.findall(text):
            mended = compiled.sub(new, token) if where(token) else token
            if mended != token:
                changes.append((at + len(commonprefix((token, mended))), token, mended))
            parts.append(mended)
            at += len(token)
        return "".join(parts), changes

    return apply


def _drop_outside(text: str) -> tuple[str, list[Change]]:
    """The text without anything before the first tag and after the last."""
    start, end = text.find("<"), text.rfind(">") + 1
    head, tail = text[:start], text[end:]
    changes = [(at + len(stray) - len(stray.lstrip()), stray, "")
               for at, stray in ((0, head), (end, tail)) if stray.strip()]
    return "\n" * head.count("\n") + text[start:end], changes


def _declare_prefixes(text: str) -> tuple[str, list[Change]]:
    """The text with a namespace for every undeclared prefix."""
    tokens = [(m.start(), m[0]) for m in _TOKEN.finditer(text) if _is_tag(m[0])]
    used: dict[str, int] = {}          # where first
    for at, token in tokens:
        for pair in _PREFIX.findall(token):
            used.setdefault(next(filter(None, pair)), at)
    new = sorted(name for name in used.keys() - {"xml", "xmlns"}
                 if not any(f"xmlns:{name}=" in token for _, token in tokens))
    first = next(((at, token) for at, token in tokens if token[1] != "/"), None)
    if not new or first is None:
        return text, []
    tag = re.split(r"[\s/>]", first[1])[0]
    given = [f' xmlns:{name}="{_XACRO if name == "xacro" else name}"' for name in new]
    at = first[0] + len(tag)
    changes = [(used[name], f"{name}:", f"{tag}{space} ...>") for name, space in zip(new, given)]
    return text[:at] + "".join(given) + text[at:], changes


def _drop_twins(tag: re.Match) -> str:
    """A tag without repeated attributes of the same value."""
    seen: set[str] = set()

    def keep(attribute: re.Match) -> str:
        words = "".join(attribute[0].split())
        twin = words in seen
        seen.add(words)
        return "" if twin else attribute[0]

    return re.sub(r"""\s+[\w:.-]+\s*=\s*("[^"]*"|'[^']*')""", keep, tag[0])


# what a slip is called -> the rule that mends it
_RULES: dict[str, Rule] = {
    "control characters": _replace(_FORBIDDEN.pattern, "", _everywhere),
    "text outside the root element": _drop_outside,
    "an & that is not written &amp;": _replace(r"&(?!#?\w+;)", "&amp;", _is_plain),
    "-- inside a comment": _replace(
        r"(?<=<!--).*(?=-->)", lambda m: re.sub(r"-{2,}|-\Z", lambda n: "=" * len(n[0]), m[0]),
        _is_comment),
    "quotation marks that are not \"": _replace(
        "=(\\s*)[\u201c\u201d\u201e\u201f\u2033]([^\"<>\u201c\u201d]*)[\u201c\u201d\u2033]",
        r'=\1"\2"', _is_tag),
    "a < in a value that is not written &lt;": _replace(
        r"""(?<==)(\s*)("[^"]*"|'[^']*')""", lambda m: m[0].replace("<", "&lt;"), _is_tag),
    "a value without quotation marks": _replace(
        r"""("[^"]*"|'[^']*')|(\s[\w:.-]+=)([^\s"'<>=]+?)(?=\s|/?>)""",
        lambda m: m[1] or f'{m[2]}"{m[3]}"', _is_tag),
    "no space between two attributes": _replace(
        r"""(=\s*"[^"<]*"|=\s*'[^'<]*')(?=[A-Za-z_])""", r"\1 ", _is_tag),
    "an attribute twice with the same value": _replace(r"\A.*\Z", _drop_twins, _is_tag),
    "a prefix that is not declared": _declare_prefixes,
}
