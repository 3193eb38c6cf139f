"""Makes the content of the reference pages, from the description and the texts of api/reference/.

A Page has the content without a format: markdown.py turns Pages into docs/reference/, and manual.py turns
them into man pages. Texts mark the names of parameters `like this`. MPI names need no mark. Nothing here
mentions a function by name.
"""

import dataclasses
import re
import tomllib

from .description import FOLDER, c_prototype
from .text import wrapped

WORDS = {'more', 'call', 'when', 'errors', 'handler', 'see', 'like', 'instead', 'lanyard', 'over',
         'parameters', 'returns'}
CHAPTER_WORDS = {'about', 'call', 'when', 'errors', 'handler', 'lanyard'}
DIRECTIONS = {'in': 'in', 'out': 'out', 'inout': 'in, out'}
MPI_NAME = re.compile(r'\bMPI_\w+\b')


@dataclasses.dataclass
class Page:
    function: object
    synopsis: list                       # lines of C
    parameters: list                     # (name, direction, sentence)
    paragraphs: list
    returns: list                        # paragraphs
    errors: list                         # (class, sentence)
    versions: list
    notes: list
    see: list

    @property
    def name(self):
        return self.function.name


class Reference:
    def __init__(self, description):
        self.description = description
        self.by_name = {f.name: f for f in description.functions}
        self.classes = {name: c for group in ('error_class', 'tool_error_class')
                        for name, c in description.constants[group]['values'].items()}
        self.calls = self._load(FOLDER / 'reference' / 'words.toml')
        self.flags, self.handlers = self.calls.pop('flags'), self.calls.pop('handlers')
        ignored = description.constants['ignore']['values']
        self.names_of_null = {name for name, c in ignored.items() if c['value'] == 0}
        self.meanings = self._load(FOLDER / 'reference' / 'constants.toml')
        self.chapters, self.words = {}, {}
        for stem in description.chapters:
            path = FOLDER / 'reference' / f'{stem}.toml'
            tables = self._load(path) if path.exists() else {'chapter': {'about': ''}}
            self.chapters[stem] = (tables.pop('chapter'), tables.pop('parameters', {}))
            if set(self.chapters[stem][0]) - CHAPTER_WORDS:
                raise SystemExit(f'api/reference/{stem}.toml: [chapter] has unknown attributes')
            for name, words in tables.items():
                self._check(stem, name, words)
                self.words[name] = words
        self.relatives = {}  # the functions that share a text, because they are forms of one operation
        for f in description.functions:
            self.relatives.setdefault(self.words.get(f.name, {}).get('like', f.name), []).append(f.name)

    @staticmethod
    def _load(path):
        with open(path, 'rb') as file:
            return tomllib.load(file)

    def _check(self, stem, name, words):
        function = self.by_name.get(name)
        if not function or function.chapter != stem:
            raise SystemExit(f'api/reference/{stem}.toml: {name} is no function of this chapter')
        wrong = set(words) - WORDS or set(words.get('parameters', {})) - {p.name for p in function.parameters}
        if wrong:
            raise SystemExit(f'api/reference/{stem}.toml: {name} has unknown attributes {sorted(wrong)}')
        for other in [*words.get('see', []), *([words['like']] if 'like' in words else [])]:
            if other not in self.by_name:
                raise SystemExit(f'api/reference/{stem}.toml: {name} refers to {other}, which is no function')
        if set(words.get('errors', [])) - set(self.classes):
            raise SystemExit(f'api/reference/{stem}.toml: {name} names unknown error classes')
        if words.get('over', '') not in ['', *[p.name for p in function.parameters]]:
            raise SystemExit(f'api/reference/{stem}.toml: {name} is called over {words["over"]}, '
                             'which is no parameter')
        if words.get('call', 'local') not in self.calls:
            raise SystemExit(f'api/reference/{stem}.toml: {name} has the unknown call "{words["call"]}"')

    def meaning(self, name, constant):
        """Returns the text that explains a constant; '' if there is none."""
        return constant.get('says') or self.meanings.get(name, '')

    def word(self, function, key, default=None):
        """Returns an attribute of a function. If the function's own table does not have it, it is taken from
        the function that the table names in `like`, or else from the chapter."""
        own = self.words.get(function.name, {})
        if key in own:
            return own[key]
        inherited = self.words.get(own.get('like'), {})
        if key not in ('call', 'instead', 'when') and key in inherited:
            return inherited[key]
        return self.chapters[function.chapter][0].get(key, default)

    def page(self, function):
        parameters = [self._parameter(function, p) for p in function.parameters]
        notes = self._paragraph(self.word(function, 'lanyard'))
        return Page(function, self._synopsis(function), parameters, self._paragraphs(function),
                    self._returns(function), self._errors(function), self._versions(function), notes,
                    self._see(function))

    @staticmethod
    def _paragraph(text):
        return [' '.join(part.split()) for part in text.split('\n\n')] if text else []

    def _synopsis(self, function):
        lines = ['#include <mpi.h>', '']
        for name, large in function.forms():
            indent = ' ' * (len(function.returns) + len(name) + 2)
            lines += wrapped(c_prototype(self.description, function, name, large) + ';', indent, 72)
        return lines

    # Parameters

    def _parameter(self, function, p):
        return '...' if p.kind == 'varargs' else p.name, DIRECTIONS[p.direction], self.sentence(function, p)

    def sentence(self, function, p):
        """Returns the sentence that explains a parameter; '' if there is none."""
        own = self.words.get(function.name, {})
        says = own.get('parameters', {}).get(p.name)
        if not says and 'like' in own:
            says = self.words.get(own['like'], {}).get('parameters', {}).get(p.name)
        says = says or self.chapters[function.chapter][1].get(p.name) or self._of_kind(p)
        if not says:
            return ''
        says = says.replace('{on}', function.raises_on).replace('{datatype}', self._datatype(function, p))
        says = says.replace('{root}', self._root(function))
        sentence = ' '.join((says[0].upper() + says[1:]).split())
        for remark in self._remarks(function, p, says):
            sentence += (', ' if remark.startswith('or ') else '; ') + remark
        return sentence + '.'

    def _of_kind(self, p):
        kind = self.description.kinds[p.kind]
        first, second = ('says_out', 'says') if p.direction == 'out' else ('says', 'says_out')
        return kind.get(first, kind.get(second))

    @staticmethod
    def _datatype(function, p):
        rest = function.parameters[function.parameters.index(p) + 1:]
        return next((q.name for q in [*rest, *function.parameters] if q.kind == 'datatype'), 'datatype')

    @staticmethod
    def _root(function):
        return next((q.name for q in function.parameters if q.kind == 'root'), 'root')

    def _remarks(self, function, p, says):
        """Yields remarks that follow from the flags of the parameter, except for what its text `says`
        already."""
        for flag in ('in_place', 'committed', 'nullable', 'large_only'):
            if p.has(flag) and not (flag == 'nullable' and self.names_of_null & set(MPI_NAME.findall(says))):
                yield self.flags[flag].format(function=function.name)
        if array := self._array(function, p):
            yield array
        if p.has('null'):
            handle = self.description.types['handles'][self.description.handle_of_kind[p.kind]]
            if f'or {handle["null"]}' not in says:
                yield self.flags['null_array' if p.array else 'null'].format(null=handle['null'])
        if 'at' in p.options:
            at = p.options['at']
            remark = self.flags.get('at_' + at, self.flags['at_parameter'])
            yield remark.format(root=self._root(function), at=at)
        if 'unless_in_place' in p.options:
            yield self.flags['unless_in_place'].format(buffer=p.options['unless_in_place'])
        if p.options.get('overflow') == 'undefined':
            yield self.flags['overflow_undefined']

    def _array(self, function, p):
        if 'elements' in p.options and p.kind != 'buffer':
            return self.flags['elements_' + p.options['elements']].format(on=function.raises_on)
        if not p.array or p.array == '*':
            return ''
        if p.kind == 'string':
            if not p.array.startswith('MPI_'):
                return ''  # the parameter's own text states the length
            remark = 'string_limit' if p.direction == 'in' else 'string_array'
            return self.flags[remark].format(length=p.array)
        return self.flags['row_array' if p.row else 'array'].format(length=f'`{p.array}`', row=p.row)

    # The rest

    def _paragraphs(self, function):
        over = self.word(function, 'over') or function.raises_on
        call = self.calls[self.word(function, 'call', 'local')]
        call = call.replace('{on}', f'`{over}`' if over else 'the job')
        when = self.word(function, 'when') or (self.calls['always'] if function.state == 'always' else '')
        return [*self._paragraph(self.word(function, 'more')), *self._paragraph(f'{call} {when}')]

    def _returns(self, function):
        if self.word(function, 'returns'):
            return self._paragraph(self.word(function, 'returns'))
        if function.value:
            return [self.calls['returns_value']]
        if function.raises_on == 'none':
            return [self.calls['returns_code']]
        handler = self.word(function, 'handler') or self.calls['handler_of_self']
        if raising := next((p for p in function.parameters if p.name == function.raises_on), None):
            other = self.handlers.get(raising.kind, self.handlers['other'])
            which = 'handler_given' if raising.kind == 'errhandler' else 'handler_of'
            handler = self.calls[which].format(on=raising.name, other=other)
        return self._paragraph(f'{self.calls["returns_error"]} {handler}')

    def _errors(self, function):
        if function.value:
            return []
        found = []
        for p in function.parameters:
            found += self._errors_of(p, function)
        found += self.word(function, 'errors', []) + self.chapters[function.chapter][0].get('errors', [])
        order = list(self.classes)
        return [(name, self.classes[name]['says']) for name in sorted(set(found), key=order.index)]

    def _errors_of(self, p, function):
        """Returns the error classes that the checks of a parameter raise."""
        kind = self.description.kinds[p.kind]
        if self.description.chapters[function.chapter].get('missing'):
            return []  # the texts of such a chapter list its errors themselves
        if p.kind in self.description.handle_of_kind:
            error = self.description.types['handles'][self.description.handle_of_kind[p.kind]]['error']
            return [error] if p.direction != 'out' else ['MPI_ERR_ARG']
        if p.has('unchecked') or p.kind == 'varargs':
            return []
        if 'error' in p.options:
            return [f'MPI_ERR_{p.options["error"].upper()}']
        if p.direction == 'out' and p.kind != 'buffer':
            narrows = ('large' in kind and kind['c'] == 'int' and function.large_count
                       and 'overflow' not in p.options and not p.array)
            may_be_null = p.has('nullable') or p.kind == 'status'
            return ['MPI_ERR_VALUE_TOO_LARGE'] * narrows + ['MPI_ERR_ARG'] * (not may_be_null)
        return kind.get('errors', []) + (['MPI_ERR_ARG'] if p.array or p.kind in ('string', 'status') else [])

    def _versions(self, function):
        lines = [f'Available since MPI-{function.since}.']
        if function.large_count:
            large = max(function.since, self.calls['large_count_since'])
            since = 'the same version' if large == function.since else f'MPI-{large}'
            lines.append(f'The large-count form {function.name}_c is available since {since}.')
        if function.deprecated:
            instead = self.word(function, 'instead')
            advice = f': use {instead}.' if instead else '.'
            lines.append(f'Deprecated since MPI-{function.deprecated}{advice}')
        return [' '.join(lines)]

    def _see(self, function):
        own = self.words.get(function.name, {})
        family = [own['like']] if 'like' in own else []
        family += self.relatives.get(own.get('like', function.name), []) + self.word(function, 'see', [])
        return [name for name in dict.fromkeys(family) if name != function.name]
