"""What the reference says of each function, put together from the description and the words beside it (api/reference/).

A Page is the content, without form: markdown.py makes docs/reference/ of it, manual.py pages for man. Words mark names of
parameters `like this`; names of MPI are found by themselves. Nothing here knows a function by name.
"""

import dataclasses
import re
import tomllib

from .description import FOLDER, c_prototype
from .text import wrapped

WORDS = {'more', 'call', 'when', 'errors', 'handler', 'see', 'like', 'instead', 'lanyard', 'over', 'parameters', 'returns'}
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
        self.classes = {**description.constants['error_class']['values'], **description.constants['tool_error_class']['values']}
        self.calls = self._load(FOLDER / 'reference' / 'words.toml')
        self.flags, self.handlers = self.calls.pop('flags'), self.calls.pop('handlers')
        self.names_of_null = {name for name, c in description.constants['ignore']['values'].items() if c['value'] == 0}
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
        self.relatives = {}              # functions that share their words, which are the forms of one operation
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
            raise SystemExit(f'api/reference/{stem}.toml: {name} is called over {words["over"]}, which is no parameter')
        if words.get('call', 'local') not in self.calls:
            raise SystemExit(f'api/reference/{stem}.toml: {name} is called in the unknown way "{words["call"]}"')

    def meaning(self, name, constant):
        """What a constant means; '' where nobody has said it."""
        return constant.get('says') or self.meanings.get(name, '')

    def word(self, function, key, default=None):
        """What is said of a function: its own, that of the function it is like, or its chapter's."""
        own = self.words.get(function.name, {})
        if key in own:
            return own[key]
        if 'like' in own and key not in ('call', 'instead', 'when') and key in self.words.get(own['like'], {}):
            return self.words[own['like']][key]
        return self.chapters[function.chapter][0].get(key, default)

    def page(self, function):
        return Page(function, self._synopsis(function), [self._parameter(function, p) for p in function.parameters], self._paragraphs(function),
                    self._returns(function), self._errors(function), self._versions(function), self._paragraph(self.word(function, 'lanyard')),
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
        """What a parameter is; '' where nobody has said it."""
        own = self.words.get(function.name, {})
        says = own.get('parameters', {}).get(p.name)
        if not says and 'like' in own:
            says = self.words.get(own['like'], {}).get('parameters', {}).get(p.name)
        says = says or self.chapters[function.chapter][1].get(p.name) or self._of_kind(p)
        if not says:
            return ''
        says = says.replace('{on}', function.raises_on).replace('{datatype}', self._datatype(function, p)).replace('{root}', self._root(function))
        sentence = ' '.join((says[0].upper() + says[1:]).split())
        for remark in self._remarks(function, p, says):
            sentence += (', ' if remark.startswith('or ') else '; ') + remark
        return sentence + '.'

    def _of_kind(self, p):
        kind = self.description.kinds[p.kind]
        return kind.get('says_out', kind.get('says')) if p.direction == 'out' else kind.get('says', kind.get('says_out'))

    @staticmethod
    def _datatype(function, p):
        rest = function.parameters[function.parameters.index(p) + 1:]
        return next((q.name for q in [*rest, *function.parameters] if q.kind == 'datatype'), 'datatype')

    @staticmethod
    def _root(function):
        return next((q.name for q in function.parameters if q.kind == 'root'), 'root')

    def _remarks(self, function, p, says):
        """What follows from how the parameter is described, where it is not said already."""
        for flag in ('in_place', 'committed', 'nullable', 'large_only'):
            if p.has(flag) and not (flag == 'nullable' and self.names_of_null & set(MPI_NAME.findall(says))):
                yield self.flags[flag].format(function=function.name)
        if array := self._array(function, p):
            yield array
        if p.has('null'):
            handle = self.description.handle_of_kind[p.kind]
            yield self.flags['null_array' if p.array else 'null'].format(null=self.description.types['handles'][handle]['null'])
        if 'at' in p.options:
            at = p.options['at']
            yield self.flags.get('at_' + at, self.flags['at_parameter']).format(root=self._root(function), at=at)
        if 'unless_in_place' in p.options:
            yield self.flags['unless_in_place'].format(buffer=p.options['unless_in_place'])
        if p.options.get('overflow') == 'undefined':
            yield self.flags['overflow_undefined']

    def _array(self, function, p):
        if 'elements' in p.options:
            return self.flags['elements_' + p.options['elements']].format(on=function.raises_on)
        if not p.array or p.array == '*':
            return ''
        if p.kind == 'string':
            return self.flags['string_array'].format(length=p.array if p.array.startswith('MPI_') else f'`{p.array}`')
        return self.flags['row_array' if p.row else 'array'].format(length=f'`{p.array}`', row=p.row)

    # The rest

    def _paragraphs(self, function):
        over = self.word(function, 'over') or function.raises_on
        call = self.calls[self.word(function, 'call', 'local')].replace('{on}', f'`{over}`' if over else 'the job')
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
            handler = self.calls['handler_of'].format(on=raising.name, other=self.handlers.get(raising.kind, self.handlers['other']))
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
        """The classes of what the door finds wrong with a parameter."""
        kind = self.description.kinds[p.kind]
        if self.description.chapters[function.chapter].get('missing'):
            return []                    # a chapter with errors of its own, which its words list
        if p.kind in self.description.handle_of_kind:
            error = self.description.types['handles'][self.description.handle_of_kind[p.kind]]['error']
            return [error] if p.direction != 'out' else ['MPI_ERR_ARG']
        if p.has('unchecked') or p.kind == 'varargs':
            return []
        if 'error' in p.options:
            return [f'MPI_ERR_{p.options["error"].upper()}']
        if p.direction == 'out' and p.kind != 'buffer':
            narrows = 'large' in kind and kind['c'] == 'int' and function.large_count and 'overflow' not in p.options and not p.array
            return (['MPI_ERR_VALUE_TOO_LARGE'] if narrows else []) + ([] if p.has('nullable') or p.kind == 'status' else ['MPI_ERR_ARG'])
        return kind.get('errors', []) + (['MPI_ERR_ARG'] if p.array or p.kind in ('string', 'status') else [])

    def _versions(self, function):
        lines = [f'Since MPI-{function.since}.']
        if function.large_count:
            large = max(function.since, self.calls['large_count_since'])
            lines = [f'Since MPI-{function.since}; the form with large counts, {function.name}_c, since MPI-{large}.']
        if function.deprecated:
            instead = self.word(function, 'instead')
            lines.append(f'Deprecated since MPI-{function.deprecated}' + (f': use {instead}.' if instead else '.'))
        return [' '.join(lines)]

    def _see(self, function):
        own = self.words.get(function.name, {})
        family = [own['like']] if 'like' in own else []
        family += self.relatives.get(own.get('like', function.name), []) + self.word(function, 'see', [])
        return [name for name in dict.fromkeys(family) if name != function.name]
