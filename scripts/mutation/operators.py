"""Small bugs that a C++ file could have: whole expressions and statements of Clang's syntax tree, each with what takes its place."""

import collections
import dataclasses
import hashlib
import pathlib
import pickle
import re
import zlib

from clang import cindex
from clang.cindex import CursorKind as Kind

BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "<<": ">>", ">>": "<<", "&": "|", "|": "&",
              "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="}
LOGIC = {"&&": "||", "||": "&&"}
NO_ARITHMETIC = re.compile(r"basic_string|filesystem::path|ostream|istream")
# What both orders of the arguments give alike.
SYMMETRIC = {"min", "max", "minmax", "swap", "gcd", "lcm", "hypot", "midpoint"}
ALREADY_EMPTY = re.compile(r"(\w+(::\w+)*)?\{\}|(std::)?nullopt|0|0\.0?|false|nullptr|\"\"")
NUMBER = re.compile(r"(0[xX][\da-fA-F']+|[\d']+)[uUlLzZ]*|[\d'.]+([eE][+-]?\d+)?[fF]?")


@dataclasses.dataclass
class Mutant:
    """`original`, bytes `start` to `end` of `file`, becomes `changed`; `form` says how the tree holds both."""

    file: str
    line: int
    start: int
    end: int
    form: str  # expression, condition, statement or return
    operator: str
    original: str
    changed: str
    function: str
    runtime: tuple = None  # (start, end, text): `constexpr` of the declaration around it, and what stands there instead
    ordinal: int = 1
    id: int = 0
    seeds: set = dataclasses.field(default_factory=set)  # of the draws that it is in

    @property
    def key(self):
        """Names the mutant wherever its function moves to inside the module."""
        text = "".join(f"{self.original}\0{self.changed}".split())
        return f"{self.function} {self.operator} {zlib.crc32(text.encode()):08x} {self.ordinal}"

    def __str__(self):
        before, after = (" ".join(text.split()) for text in (self.original, self.changed))
        return f"{self.file}:{self.line}: {self.operator}: {shortened(before)}  →  {shortened(after) or '(nothing)'}"


def shortened(text):
    return text if len(text) <= 70 else text[:67] + "…"


@dataclasses.dataclass(frozen=True)
class Place:
    """What surrounds a cursor."""

    function: str = ""
    runtime: tuple = None
    in_lambda: bool = False


class Finder:
    """The mutants of one file. Text is Latin-1, so that a character is a byte, as in Clang's offsets."""

    def __init__(self, file, text):
        self.file, self.text, self.found = file, text, {}

    def source(self, cursor):
        return self.text[cursor.extent.start.offset:cursor.extent.end.offset]

    def add(self, cursor, place, operator, changed, form="expression", end=None):
        start, end = cursor.extent.start.offset, end or cursor.extent.end.offset
        original = self.text[start:end]
        if original != changed:
            self.found.setdefault((start, end, form, changed), Mutant(
                self.file, cursor.extent.start.line, start, end, form, operator, original, changed, place.function, place.runtime))

    def visit(self, cursor, place):
        kind = cursor.kind
        if kind in (Kind.STATIC_ASSERT, Kind.ENUM_CONSTANT_DECL, Kind.TEMPLATE_NON_TYPE_PARAMETER, Kind.TEMPLATE_TYPE_PARAMETER):
            return
        children = list(cursor.get_children())
        if kind.is_declaration():
            place = self.inside(cursor, place)
        elif kind == Kind.LAMBDA_EXPR:
            place = dataclasses.replace(place, in_lambda=True)
        elif kind in (Kind.COMPOUND_STMT, Kind.CASE_STMT, Kind.DEFAULT_STMT):
            children = children[1:] if kind == Kind.CASE_STMT else children
            for child in children:
                self.deleted(child, place)
        elif kind in (Kind.IF_STMT, Kind.WHILE_STMT, Kind.FOR_STMT, Kind.CONDITIONAL_OPERATOR):
            if re.match(r"if\s+constexpr\b", self.source(cursor)):
                children = [child for child in children if child.kind.is_statement()]
            else:
                self.condition(cursor, children, place)
        elif kind == Kind.RETURN_STMT and children:
            self.emptied(cursor, children[0], place)
        elif kind in (Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGNMENT_OPERATOR) and len(children) == 2:
            self.binary(cursor, children, place)
        elif kind == Kind.UNARY_OPERATOR and re.match(r"!(?!=)|-(?!-)", self.source(cursor)):
            # Still a bool: beside one, an `std::optional` would become what holds one.
            twice = "!!" if self.source(cursor).startswith("!") else ""
            self.add(cursor, place, "unary", f"{twice}({self.source(children[0])})")
        elif kind in (Kind.INTEGER_LITERAL, Kind.FLOATING_LITERAL, Kind.CXX_BOOL_LITERAL_EXPR):
            self.constant(cursor, place)
        elif kind == Kind.CALL_EXPR:
            self.call(cursor, place)
        for child in children:
            self.visit(child, place)

    def inside(self, cursor, place):
        """The name of the declaration, and what its `constexpr` becomes so that a bug can be switched on while the program runs."""
        is_function = cursor.kind in (Kind.FUNCTION_DECL, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.FUNCTION_TEMPLATE, Kind.CONVERSION_FUNCTION)
        is_variable = cursor.kind == Kind.VAR_DECL
        if is_function or cursor.kind in (Kind.CLASS_DECL, Kind.STRUCT_DECL, Kind.CLASS_TEMPLATE) or (is_variable and not place.function):
            owner = cursor.semantic_parent.spelling if is_function and cursor.semantic_parent.kind != Kind.NAMESPACE else ""
            name = f"{owner}::{cursor.spelling}" if owner and not owner.endswith((".cpp", ".hpp")) else cursor.spelling
            place = dataclasses.replace(place, function=re.sub(r"\s+", "", name))
        start = cursor.extent.start.offset
        found = re.search(r"\bconstexpr\b", self.text[start:cursor.location.offset]) if is_function or is_variable else None
        if found:
            in_class = is_variable and cursor.semantic_parent.kind in (Kind.CLASS_DECL, Kind.STRUCT_DECL)
            instead = "inline" if is_function else "inline const" if in_class else "const"
            place = dataclasses.replace(place, runtime=(start + found.start(), start + found.end(), instead))
        return place

    def deleted(self, statement, place):
        """A call, an assignment, a refusal, a jump: a statement whose absence compiles."""
        kind, text = statement.kind, self.source(statement)
        is_jump = kind in (Kind.BREAK_STMT, Kind.CONTINUE_STMT) or (kind == Kind.RETURN_STMT and text == "return")
        end = statement.extent.end.offset
        behind = re.match(r"\s*;", self.text[end:])
        if behind and (kind.is_expression() or is_jump) and not re.match(r"[A-Z][A-Z_\d]+\s*\(|static_cast<void>|\(void\)", text):
            self.add(statement, place, "throw" if text.startswith("throw") else "statement", "", "statement", end + behind.end())

    def condition(self, cursor, children, place):
        if cursor.kind == Kind.CONDITIONAL_OPERATOR:
            conditions = children[:1]
        else:
            conditions = [child for child in children if child.kind.is_expression() and self.stands_alone(child, cursor.kind == Kind.FOR_STMT)]
        for found in conditions[:1]:
            self.add(found, place, "negated", f"!({self.source(found)})", "condition")

    def stands_alone(self, expression, in_for):
        before = self.text[:expression.extent.start.offset].rstrip()[-1:]
        behind = self.text[expression.extent.end.offset:].lstrip()[:1]
        return (before == ";" and behind == ";") if in_for else (before in "(;" and behind == ")")

    def emptied(self, cursor, value, place):
        behind = re.match(r"\s*;", self.text[cursor.extent.end.offset:])
        text = self.source(value)
        if not behind or not text or ALREADY_EMPTY.fullmatch(text):
            return
        if value.type.get_canonical().kind == cindex.TypeKind.BOOL:
            instead = f"!({text})"
        else:
            instead = f"std::decay_t<decltype({text})>{{}}" if place.in_lambda else "{}"
        self.add(cursor, place, "return", f"return {instead};", "return", cursor.extent.end.offset + behind.end())

    def binary(self, cursor, operands, place):
        left, right = operands
        sign = re.sub(r"/\*.*?\*/|//[^\n]*", "", self.text[left.extent.end.offset:right.extent.start.offset]).strip()
        for operator, signs in (("boundary", BOUNDARY), ("arithmetic", ARITHMETIC), ("logic", LOGIC)):
            if sign not in signs:
                continue
            of_text = any(NO_ARITHMETIC.search(one.type.get_canonical().spelling) for one in (cursor, left, right))
            if operator != "arithmetic" or not of_text:
                if sign.endswith("=") and sign not in BOUNDARY:
                    changed = f"{self.source(left)} {signs[sign]} {self.source(right)}"
                else:
                    changed = f"({self.source(left)}) {signs[sign]} ({self.source(right)})"
                self.add(cursor, place, operator, changed)

    def constant(self, cursor, place):
        text = self.source(cursor)
        if text in ("true", "false"):
            self.add(cursor, place, "constant", "false" if text == "true" else "true")
        elif NUMBER.fullmatch(text) and self.text[cursor.extent.start.offset - 1] != "<":
            is_float = cursor.kind == Kind.FLOATING_LITERAL
            self.add(cursor, place, "constant", f"({text} * 2)" if is_float and float(text.rstrip("fF").replace("'", "")) else f"({text} + 1)")
            if not is_float and text != "0":
                self.add(cursor, place, "constant", f"({text} - 1)")

    def call(self, cursor, place):
        arguments = [one for one in cursor.get_arguments() if one is not None and one.extent.end.offset > one.extent.start.offset]
        if cursor.spelling.startswith("operator") and cursor.spelling != "operator()":
            if len(arguments) == 2:
                self.binary(cursor, arguments, place)
            return
        if cursor.spelling in SYMMETRIC or not re.match(r"[\w:>.<\-\s]+[({].*[)}]$", self.source(cursor), re.DOTALL):
            return
        for first, second in zip(arguments, arguments[1:]):
            texts = self.source(first), self.source(second)
            between = self.text[first.extent.end.offset:second.extent.start.offset].strip()
            types = [re.sub(r"\bconst\b|[&\s]", "", one.type.get_canonical().spelling) for one in (first, second)]
            a_range = re.search(r"begin\(\)$", texts[0]) and re.search(r"end\(\)$", texts[1])
            if between == "," and types[0] == types[1] and texts[0] != texts[1] and not a_range:
                begin, end = cursor.extent.start.offset, cursor.extent.end.offset
                self.add(cursor, place, "swapped", self.text[begin:first.extent.start.offset] + f"{texts[1]}, {texts[0]}" +
                         self.text[second.extent.end.offset:end])


def mutants_of(root, file, flags):
    """All mutants of one file, in the order of its text; nothing inside macros, whose text is not where it is written."""
    path = root / file
    text = path.read_bytes().decode("latin-1")
    unit = cindex.Index.create().parse(str(path), args=["-x", "c++", "-Wno-everything", *flags])
    finder = Finder(file, text)

    def descend(cursor):
        for child in cursor.get_children():
            if child.location.file is not None and child.location.file.name == str(path):
                if child.kind == Kind.NAMESPACE:
                    descend(child)
                else:
                    finder.visit(child, Place())

    descend(unit.cursor)
    counts = collections.Counter()
    mutants = sorted(finder.found.values(), key=lambda one: (one.start, -one.end, one.form, one.changed))
    for mutant in mutants:
        same = mutant.key
        counts[same] += 1
        mutant.ordinal = counts[same]
    return mutants


def cached_mutants_of(root, file, flags, folder):
    """The same, kept in `folder`: a file takes Clang a second, and a draw touches most files."""
    about = (root / file).read_bytes() + "\0".join([file, *flags]).encode() + pathlib.Path(__file__).read_bytes()
    kept = folder / hashlib.sha256(about).hexdigest()
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(pickle.dumps(mutants_of(root, file, flags)))
    return pickle.loads(kept.read_bytes())
