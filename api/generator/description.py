"""Reads the description of MPI into plain objects and checks its consistency.

The description consists of the .toml files in the parent folder. Every generator starts from a Description.
Neither this file nor a generator mentions a function by name: the special properties of a function are
attributes in its table.
"""

import dataclasses
import pathlib
import re
import tomllib

FOLDER = pathlib.Path(__file__).resolve().parent.parent
PARAMETER_FLAGS = {'async', 'by_value', 'committed', 'in_place', 'large_only', 'mutable', 'null', 'nullable',
                   'pointer', 'unchecked'}
PARAMETER_OPTIONS = {'at', 'by', 'elements', 'error', 'fn', 'overflow', 'part', 'unless_in_place'}
FUNCTION_KEYS = {'says', 'since', 'deprecated', 'large_count', 'returns', 'parameters', 'core', 'door',
                 'state', 'raises_on', 'starts', 'tell_form', 'value'}


@dataclasses.dataclass
class Parameter:
    name: str
    kind: str
    direction: str      # in, out or inout
    array: str | None   # None for a single value; for an array, the parameter or the constant that states its
                        # length, or '*' for other rules
    row: int            # for a two-dimensional array, the number of values in each row; otherwise 0
    flags: frozenset
    options: dict

    def has(self, flag):
        return flag in self.flags


@dataclasses.dataclass
class Function:
    name: str
    chapter: str
    says: str
    since: str
    deprecated: str | None
    large_count: bool   # MPI_X_c exists in addition to MPI_X
    returns: str        # the C type of the result; int is an error code unless `value` is set
    value: bool         # the result is a value, not an error code
    core: str           # the name, without "lanyard_", of the typed function that does the work
    door: str | None    # the function of the ABI front ends (src/doors) that does the work instead of a typed
                        # function, or None
    tell_form: bool     # the typed function has a parameter that is true if the program called the
                        # large-count form
    starts: bool        # initialises MPI or MPI_T; the process then uses the ABI front end through which the
                        # function was called
    state: str          # when it may be called. 'active': between initialisation and finalisation; 'always':
                        # at any time
    raises_on: str      # the parameter whose error handler is invoked; '': the handler of MPI_COMM_SELF;
                        # 'none': no handler
    parameters: list

    def forms(self):
        """Yields (name, large) for each C function: MPI_X and, if it exists, MPI_X_c."""
        yield self.name, False
        if self.large_count:
            yield self.name + '_c', True

    def in_form(self, large):
        return [p for p in self.parameters if large or not p.has('large_only')]


class Description:
    def __init__(self):
        self.kinds = self.load('kinds.toml')
        self.types = self.load('types.toml')
        self.constants = self.load('constants.toml')
        self.datatypes = self.load('datatypes.toml')
        self.reductions = self.datatypes.pop('reductions')
        self.accepted = self.datatypes.pop('accepted')
        self.chapters = {}               # file name -> chapter attributes
        self.functions = []
        handles = self.types['handles']
        self.handle_of_kind = {k: v['c'] for k, v in self.kinds.items() if v.get('c') in handles}
        for path in sorted((FOLDER / 'functions').glob('*.toml')):
            self.chapters[path.stem], functions = self.load_chapter(path)
            self.functions += functions
        names = [function.name for function in self.functions]
        for name in set(names):
            if names.count(name) > 1:
                raise SystemExit(f'{name} is described twice')

    @staticmethod
    def load(name):
        with open(FOLDER / name, 'rb') as file:
            return tomllib.load(file)

    def load_chapter(self, path):
        """Returns the attributes of a chapter, and its functions."""
        tables = self.load(path)
        chapter = tables.pop('chapter')
        functions = []
        for name, table in tables.items():
            unknown = set(table) - FUNCTION_KEYS
            if unknown:
                raise SystemExit(f'{path.name}: {name} has unknown attributes {sorted(unknown)}')
            lines = table.get('parameters', '').splitlines()
            functions.append(Function(
                name=name, chapter=path.stem, says=table['says'], since=table['since'],
                deprecated=table.get('deprecated'), large_count=table.get('large_count', False),
                returns=table.get('returns', 'int'), value=table.get('value', False),
                core=table.get('core', name.removeprefix('MPI_').lower()), door=table.get('door'),
                tell_form=table.get('tell_form', False), starts=table.get('starts', False),
                state=table.get('state', chapter.get('state', 'active')),
                raises_on=table.get('raises_on', chapter.get('raises_on', '?')),
                parameters=[self._parameter(path, name, line) for line in lines if line]))
            self._check(functions[-1])
        return chapter, functions

    def _parameter(self, path, function, line):
        name, kind, direction, *rest = line.split()
        match = re.fullmatch(r'(\w+)(?:\[([\w*]+)\])?(?:\[(\d+)\])?', kind)
        if not match or match[1] not in self.kinds:
            raise SystemExit(f'{path.name}: {function}: parameter {name} has the unknown kind "{kind}"')
        if direction not in ('in', 'out', 'inout'):
            raise SystemExit(f'{path.name}: {function}: '
                             f'parameter {name} has the unknown direction "{direction}"')
        options = dict(word.split('=', 1) for word in rest if '=' in word)
        flags = frozenset(word for word in rest if '=' not in word)
        unknown = (flags - PARAMETER_FLAGS) | (set(options) - PARAMETER_OPTIONS)
        if unknown:
            raise SystemExit(f'{path.name}: {function}: parameter {name} has unknown flags {sorted(unknown)}')
        return Parameter(name, match[1], direction, match[2], int(match[3] or 0), flags, options)

    def _check(self, function):
        parameters = {p.name for p in function.parameters}
        if len(parameters) != len(function.parameters):
            raise SystemExit(f'{function.name}: two parameters have the same name')
        if function.raises_on == '?':
            function.raises_on = self._first_with_handler(function)
        for p in function.parameters:
            if p.array and not p.array.startswith('MPI_') and p.array != '*' and p.array not in parameters:
                raise SystemExit(f'{function.name}: the length of {p.name} is no parameter: {p.array}')

    @staticmethod
    def _first_with_handler(function):
        for p in function.parameters:
            if p.kind in ('comm', 'win', 'file', 'session') and p.direction != 'out':
                return p.name
        return ''

    def value_of(self, name):
        """The value of a constant or datatype."""
        if name in self.datatypes:
            return self.datatypes[name]['value']
        return next(g['values'][name]['value'] for g in self.constants.values() if name in g['values'])


def callback_type(description, p, large):
    """The type of a callback function of the program, in one form of the call."""
    callback = p.options['fn']
    return callback + '_c' if large and callback + '_c' in description.types['callbacks'] else callback


def c_parameter(description, p, large, base=None):
    """One parameter in a C prototype; `base`, if given, replaces the C type of one value."""
    if p.kind == 'varargs':
        return '...'
    if p.kind == 'function':
        return f'{base or callback_type(description, p, large)} *{p.name}'
    kind = description.kinds[p.kind]
    base = base or (kind['large'] if large and 'large' in kind else kind['c'])
    const = 'const ' if p.direction == 'in' and not p.has('mutable') else ''
    star = '' if base.endswith('*') else ' '
    if p.kind in ('string', 'buffer', 'logical'):
        return f'{const}{base} *{p.name}'
    if p.kind in ('attribute', 'memory', 'attached_buffer'):  # the program passes the address of a pointer,
                                                              # declared as void *
        return f'void *{p.name}'
    if p.kind in ('string_list', 'string_lists') or (p.kind == 'argument_list' and p.has('by_value')):
        return f'{"char *" if p.kind == "argument_list" else base}{p.name}[]'
    if p.row:
        return f'{const}{base} {p.name}[][{p.row}]'
    if p.array and not kind.get('by_pointer'):
        return f'{const}{base}{star}{p.name}[]'
    if p.kind == 'status' or p.array:
        return f'{const}{base} *{p.name}'
    if (p.direction == 'in' and not p.has('pointer')) or p.has('by_value'):
        return f'{base}{star}{p.name}'
    return f'{base}{star}*{p.name}'


def c_prototype(description, function, name, large):
    """The C prototype of one form of a function under the given name, without the semicolon."""
    parameters = ', '.join(c_parameter(description, p, large) for p in function.in_form(large)) or 'void'
    return f'{function.returns} {name}({parameters})'
