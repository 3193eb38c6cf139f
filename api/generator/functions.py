"""Generates the bodies of the MPI functions in src/doors/functions/. Each body is a template over the ABI.

A body checks its arguments, converts handles to objects, calls the typed function and converts the results
back. Each step is one line of C++ that does nothing after the first error. The arguments are translated
first, so that the checks see the standard's values. The results are translated last. The properties of an ABI
(src/doors/README.md) determine the translation; for the standard ABI, the translation produces no machine
code. The two forms of a function, MPI_X and MPI_X_c, share one body unless one of them has additional
parameters.
"""

import re

from .constants import core_name
from .core import may_be_absent, weak_functions
from .description import c_parameter, callback_type
from .text import NOTICE, wrapped

FOLDER = 'src/doors/functions/'
ELEMENTS = {'comm_size': '{}->size', 'group_size': '{}->group->size()',
            'in_neighbors': 'neighbors(*{}).in', 'out_neighbors': 'neighbors(*{}).out'}
CONDITIONS = {'root': 'at_root', 'leaf': 'at_leaf', 'part': 'takes_part'}
WIDTH = 118


def generate(description, chapters, functions, output):
    called = set()
    for stem, chapter in chapters.items():
        made = [Body(description, chapter, f, form)
                for f in functions if f.chapter == stem and has_body(f) for form in forms(f)]
        if not made:
            continue
        called |= {f'lanyard_{body.function.core}' for body in made}
        lines = [line for body in made for line in ['', *body.lines()]]
        output.write(f'{FOLDER}{stem}.h', [
            f'// {chapter["title"]}: the bodies of the functions, for every ABI.', f'// {NOTICE}',
            '#pragma once', '', '#include "api/timed_call.h"',
            '#include "doors/functions/typed_functions.h"', '#include "doors/numbers.h"',
            '#include "doors/objects.h"', '#include "doors/statuses.h"', '', 'namespace lanyard::doors {', '',
            'template <class Abi>', f'struct {class_name(stem)} {{', *types_of(description, lines),
            *[f'    {line}'.rstrip() for line in lines], '};', '', '}  // namespace lanyard::doors'])
    weak_functions(called, f'{FOLDER}typed_functions.h', output)


def class_name(stem):
    return ''.join(word.capitalize() for word in stem.split('_')) + 'Functions'


def has_body(function):
    return not function.door and not function.value


def forms(function):
    """Returns one element for each body that the function needs. False: the body serves MPI_X; True: it
    serves MPI_X_c; None: it serves both."""
    if not function.large_count:
        return [False]
    return [False, True] if any(p.has('large_only') for p in function.parameters) else [None]


def body_name(function, large):
    """Returns the name of the body that an entry point calls."""
    name = function.name.removeprefix('MPI_').lower()
    return name + '_c' if large and forms(function) != [None] else name


def is_timed(function):
    """True if the entry point can measure the time of the call (src/api/timed_call.h).

    Functions that may be called at any time and functions with variable arguments are not timed.
    """
    return function.state == 'active' and all(p.kind != 'varargs' for p in function.parameters)


def types_of(description, lines):
    """Returns aliases for the types of the ABI that the bodies use."""
    types = description.types
    known = {**types['integers'], **types['handles'], **types['tool_handles'], **types['enums'],
             **types['callbacks'], 'MPI_Status': None}
    used = sorted(set(re.findall(r'\bMPI_\w+', re.sub(r'"[^"]*"|//.*', '', '\n'.join(lines)))) & set(known))
    return [f'    using {name} = typename Abi::{name};' for name in used]


def translation(description, p):
    """Returns the kind of a value that the ABI's functions KIND_in and KIND_out translate, or None."""
    kind = description.kinds[p.kind]
    if p.has('unchecked') and p.direction == 'in':
        return None
    if 'constants' in kind:
        return kind['constants'] if isinstance(kind['constants'], str) else p.kind
    return p.kind if kind.get('translated') or 'by' in p.options else None


class Body:
    """One body, whose lines are collected step by step."""

    def __init__(self, description, chapter, function, large):
        self.description, self.chapter, self.function, self.large = description, chapter, function, large
        self.form = {None: 'large', False: 'false', True: 'true'}[large]
        self.parameters = function.in_form(large is not False)
        self.raising = next((p for p in self.parameters if p.name == function.raises_on), None)
        self.openings, self.objects, self.roots, self.converts = [], [], [], []
        self.checks, self.buffers, self.stores = [], [], []
        self.arguments, self.statuses = {}, []
        # Maps the role of this process in a rooted collective to its condition. The body evaluates each
        # condition once.
        self.roles = {}

    def lines(self):
        names = [name for name, large in self.function.forms() if self.large in (None, large)]
        parameters = ['auto entry', *[self.parameter(p) for p in self.parameters if p.kind != 'varargs']]
        head = f'static int {body_name(self.function, self.large)}({", ".join(parameters)}) {{'
        return [f'// {", ".join(names)}', *(['template <bool large>'] if self.large is None else []),
                *self.wrapped(f'[[gnu::always_inline]] {head}', ' ' * 8), *self.body(), '}']

    @staticmethod
    def wrapped(text, indent):
        return wrapped(text, indent, WIDTH - 4)

    def parameter(self, p):
        """Returns the declaration of a parameter of the body. It is that of C, except that a type that
        differs between the two forms is a template type."""
        base, kind = None, self.description.kinds[p.kind]
        if self.large is None and p.kind == 'function':
            small, large = p.options['fn'], callback_type(self.description, p, True)
            base = f'Form<large, {small}, {large}>' if small != large else None
        elif self.large is None and kind.get('large') and kind['c'] == 'int':
            base = 'Count<large>'
        return c_parameter(self.description, p, self.large, base)

    def body(self):
        first = []
        if self.function.starts:
            self.openings.append('lanyard_use_door(Abi::door);')
        for p in self.parameters:
            self.translate(p)
        if self.function.state == 'active':
            first.append(f'error = check_active({"state" if is_timed(self.function) else ""});')
        if self.raising:
            self.convert_object(self.raising, first)
        code = f', abi::{core_name(self.chapter["missing"])}' if 'missing' in self.chapter else ''
        first.append(f'error = check_available(lanyard_{self.function.core}, entry.name{code});')
        for p in self.parameters:
            if p is not self.raising:
                self.convert(p)
        steps = first + self.roots
        lines = [f'    {line}' for line in self.timed() + self.openings + self.objects]
        lines.append('    Error error = ' + steps[0].removeprefix('error = '))
        lines += [self.guarded(step) for step in steps[1:]]
        lines += [f'    const bool is_{at} = !error && {condition};' for at, condition in self.roles.items()]
        lines += [self.guarded(step) for step in self.converts + self.checks + self.buffers]
        lines += self.call() + [f'    {line}' for line in self.statuses]
        lines += ['    if (!error) return abi::success;', *self.failure()]
        return lines

    def timed(self):
        if not is_timed(self.function):
            return []
        arguments = ', '.join(['entry', *[p.name for p in self.parameters]])
        return ['ProcessState state = process_state();',
                'if (state != ProcessState::active && to_be_timed(state))',
                *self.wrapped(f'    return timed({arguments});', ' ' * 12)]

    def guarded(self, step):
        if step.startswith('if ('):
            return '    if (!error && ' + step[4:]
        return f'    if (!error) {step}'

    # Translation between values of the ABI and those of the standard

    def translate(self, p):
        """Translates a parameter whose values depend on the ABI.

        Sets the argument of the typed function, and adds the lines before and after the call that translate
        it.
        """
        kind = translation(self.description, p)
        if p.kind == 'status':
            self.translate_status(p)
        elif self.text_lengths(p) and p.direction == 'out':
            length = next((q.name for q in self.parameters
                           if q.kind == 'string_length' and q.direction == 'out'), '')
            self.objects.append(f'TextResult<{self.text_lengths(p)}> {p.name}_text({p.name});')
            self.arguments[p.name] = f'{p.name}_text.data()'
            self.stores.append(f'{p.name}_text.store({length});')
        elif kind is None:
            pass
        elif 'by' in p.options:
            others = ', '.join(self.value(q) for name in p.options['by'].split(',')
                               for q in self.parameters if q.name == name)
            self.stores.append(f'Abi::{kind}_out({p.name}, {others});')
        elif p.array:
            self.translate_array(p, kind)
        elif p.kind != 'buffer' and p.direction != 'in':
            self.translate_result(p, kind)
        elif self.description.kinds[p.kind]['c'] in self.description.types['enums']:
            self.arguments[p.name] = f'Abi::{kind}_in(static_cast<int>({p.name}))'
        else:
            self.openings.append(f'{p.name} = Abi::{kind}_in({p.name});')

    @staticmethod
    def text_lengths(p):
        """Returns the constants of the standard and of the ABI that limit the length of a text."""
        constant = core_name(p.array) if p.kind == 'string' and p.array and p.array.startswith('MPI_') else ''
        return constant and f'abi::{constant}, Abi::{constant}'

    def value(self, p):
        if p.kind in self.description.handle_of_kind:
            return f'*{p.name}_object'
        return p.name if p.direction == 'in' else f'*{p.name}'

    def translate_array(self, p, kind):
        if p.direction == 'in':
            self.objects.append(f'Translated<Abi, Abi::{kind}_in> {p.name}_values;')
            self.arguments[p.name] = f'{p.name}_values.data()'
        elif self.length(p):
            self.stores.append(f'translate<Abi, Abi::{kind}_out>({p.name}, {self.length(p)});')

    def translate_result(self, p, kind):
        core, place = self.description.kinds[p.kind]['core'], p.name
        if core == 'void *':
            place = f'static_cast<void **>({p.name})'
        elif self.description.kinds[p.kind]['c'] != core:
            place = f'reinterpret_cast<{core} *>({p.name})'
        value = '' if core == 'int' else f', {core}'
        self.objects.append(f'Result<Abi, Abi::{kind}_out{value}> {p.name}_value({place});')
        if p.direction == 'inout':
            self.buffers.append(f'{p.name}_value.read(Abi::{kind}_in);')
        self.arguments[p.name] = f'{p.name}_value.data()'
        self.stores.append(f'{p.name}_value.store();')

    def translate_status(self, p):
        self.openings.append(f'{p.name} = Abi::status_in({p.name});')
        if p.array:
            self.objects.append(f'ResultStatuses<Abi> {p.name}_value;')
            self.buffers.append(f'error = {p.name}_value.reserve("{p.name}", {p.name}, {p.array});')
        else:
            kind = ('ResultStatus<Abi>' if p.direction == 'out' else
                    f'GivenStatus<Abi, StatusPart::{p.options["part"]}>')
            self.objects.append(f'{kind} {p.name}_value({p.name});')
        self.arguments[p.name] = f'{"" if p.direction == "out" else "*"}{p.name}_value.data()'
        if p.direction != 'in':
            self.statuses.append(f'{p.name}_value.store({p.name});')

    # Conversion of arguments to objects and numbers

    def convert(self, p):
        kind = self.description.kinds[p.kind]
        if p.kind in self.description.handle_of_kind:
            self.convert_object(p, self.converts) if not p.array else self.convert_objects(p)
        elif p.kind == 'varargs' or p.has('unchecked'):
            pass
        elif p.kind == 'buffer':
            self.check_buffer(p)
        elif p.direction == 'in':
            self.check_value(p, kind)
        elif not (p.has('nullable') or p.has('by_value') or p.kind == 'status' and p.direction == 'out'):
            self.check_place(p)
        if self.narrows(p):
            self.objects.append(f'CountResult<{self.form}> {p.name}_value({p.name});')
            if p.direction == 'inout':
                self.checks.append(f'{p.name}_value.read();')
            self.stores.append(f'{p.name}_value.store_or_undefined();'
                               if p.options.get('overflow') == 'undefined'
                               else f'error = {p.name}_value.store("{p.name}");')

    def convert_object(self, p, steps):
        core = self.description.types['handles'][self.description.handle_of_kind[p.kind]]['core']
        self.objects.append(f'{core} *{p.name}_object = nullptr;')
        if p.direction == 'out':
            if not p.has('nullable'):
                steps.append(f'error = check_out("{p.name}", {p.name});')
            condition = f'if ({p.name}) ' if p.has('nullable') else ''
            self.stores.append(f'{condition}store<Abi>({p.name}, {p.name}_object);')
            return
        handle = p.name
        if p.direction == 'inout' or p.has('pointer'):
            steps.append(f'error = check_out("{p.name}", {p.name});')
            handle = '*' + p.name
        find = 'find_committed' if p.has('committed') else 'find_or_null' if p.has('null') else 'find'
        nothing = self.nothing(p)
        nothing = f', [&] {{ return {nothing}; }}' if nothing else ''
        steps.append(self.where(p) + f'error = {find}<Abi>("{p.name}", {handle}, {p.name}_object{nothing});')

    def convert_objects(self, p):
        length = self.length(p)
        if p.has('nullable'):
            length = f'{p.name} ? {length} : 0'
        self.objects.append(f'Objects<Abi, {self.description.handle_of_kind[p.kind]}> {p.name}_objects;')
        method = ('reserve' if p.direction == 'out' else 'find_committed' if p.has('committed') else
                  'find_or_null' if p.has('null') else 'find')
        elements = f', {self.counts_of(p).name}' if p.has('committed') else ''
        call = f'{p.name}_objects.{method}("{p.name}", {p.name}, {length}{elements})'
        self.checks.append(f'{self.where(p)}error = {call};')
        if p.direction == 'out':
            self.stores.append(f'{p.name}_objects.store_found({p.name});')

    def counts_of(self, datatype):
        """Returns the parameter that counts the elements of a datatype. It is the nearest count before the
        datatype, or None if there is only one element."""
        before = self.parameters[:self.parameters.index(datatype)]
        return next((p for p in reversed(before)
                     if p.kind in ('count', 'large_count') and p.direction == 'in'), None)

    def nothing(self, datatype):
        """Returns the condition under which nothing is communicated: there are no elements, or the other
        process is MPI_PROC_NULL."""
        counts = self.counts_of(datatype)
        if not datatype.has('committed') or not counts:
            return None
        conditions = [f'all_zero({counts.name}, {self.length(counts)})' if counts.array else
                      f'{counts.name} == 0']
        kinds = {'send': ('dest',), 'recv': ('source',)}.get(datatype.name[:4], ('dest', 'source'))
        peers = [f'{p.name} == abi::proc_null' for p in self.parameters if p.kind in kinds]
        if peers:
            conditions.append(f'({" && ".join(peers)})' if len(peers) > 1 else peers[0])
        return ' || '.join(conditions)

    def length(self, p):
        """Returns the number of values in an array if this number is known before the call, otherwise
        None."""
        if 'elements' in p.options:
            return ELEMENTS[p.options['elements']].format(f'{self.raising.name}_object')
        length = next((q for q in self.parameters if q.name == p.array), None)
        if not length:
            return None
        return f'value_or_0({length.name})' if length.direction == 'inout' else p.array

    def where(self, p):
        """Returns the C++ condition under which this process must check a parameter of a collective call."""
        conditions = []
        if 'at' in p.options:
            conditions.append(self.here(p.options['at']))
        if 'unless_in_place' in p.options:
            conditions.append(f'!in_place({p.options["unless_in_place"]})')
        return f'if ({" && ".join(conditions)}) ' if conditions else ''

    def here(self, at):
        if at in CONDITIONS:
            root = next(q.name for q in self.parameters if q.kind == 'root')
            self.roles[at] = f'{CONDITIONS[at]}({root}, *{self.raising.name}_object)'
            return f'is_{at}'
        return f'{at} == {self.parameters[0].name}_object->rank'

    def check_value(self, p, kind):
        if p.has('nullable'):
            return
        if p.array and p.kind != 'string':
            if self.length(p) and p.name in self.arguments:
                call = f'{p.name}_values.read("{p.name}", {p.name}, {self.length(p)})'
                self.checks.append(f'{self.where(p)}error = {call};')
            elif self.length(p):
                check = 'check_counts' if p.kind == 'count' and 'elements' in p.options else 'check_array'
                call = f'{check}("{p.name}", {p.name}, {self.length(p)})'
                self.checks.append(f'{self.where(p)}error = {call};')
        elif p.kind == 'status':
            self.checks.append(f'error = check_out("{p.name}", {p.name});')
        elif 'check' in kind:
            extra = ''
            if p.kind in ('dest', 'source', 'root', 'recv_tag'):
                extra = f', *{self.raising.name}_object'
            if 'error' in p.options:
                extra += f', ErrorClass::{p.options["error"]}'
            steps = self.roots if p.kind == 'root' else self.checks
            if p.kind == 'string':
                self.check_text(p)
            else:
                steps.append(self.where(p) + f'error = {kind["check"]}("{p.name}", {p.name}{extra});')

    def check_text(self, p):
        """Adds the check that a text is present and, if the ABI permits shorter texts than the standard, not
        too long."""
        self.checks.append(f'error = check_string("{p.name}", {p.name});')
        if self.text_lengths(p):
            error = p.options.get('error', 'arg')
            check = f'check_room<{self.text_lengths(p)}>'
            self.checks.append(f'error = {check}("{p.name}", {p.name}, ErrorClass::{error});')

    def check_place(self, p):
        """Adds the check that the address for a result is not null."""
        if p.array and p.array in {q.name for q in self.parameters}:
            length = next(q for q in self.parameters if q.name == p.array)
            if length.direction == 'in':
                self.checks.append(f'error = check_array("{p.name}", {p.name}, {p.array});')
        elif not p.array or p.kind == 'string':
            self.checks.append(f'error = check_out("{p.name}", {p.name});')

    def check_buffer(self, p):
        count, datatype = self.described_by(p)
        if p.has('in_place'):
            comm = f'*{self.raising.name}_object'
            root = next((q.name for q in self.parameters if q.kind == 'root'), None)
            call = (f'check_in_place_at_root("{p.name}", {p.name}, {root}, {comm})' if root
                    else f'check_in_place("{p.name}", {p.name}, {comm})')
            self.buffers.append(f'error = {call};')
        condition = self.where(p)
        if p.has('in_place') and count:
            others = condition[:-2] + ' && ' if condition else 'if ('
            condition = f'{others}!in_place({p.name})) '
        if p.options.get('elements'):  # a process without neighbours may pass no buffer
            condition = f"if ({ELEMENTS[p.options['elements']].format(self.raising.name + '_object')} > 0) "
        if count:
            call = f'check_buffer("{p.name}", {p.name}, {count}, *{datatype}_object)'
            self.buffers.append(f'{condition}error = {call};')
        elif not p.has('in_place') and not p.has('anywhere'):
            self.buffers.append(condition + f'error = check_not_in_place("{p.name}", {p.name});')

    def described_by(self, p):
        """Returns the count and the datatype that follow a buffer in the list of parameters. Another buffer
        may stand between the buffer and the count."""
        rest = self.parameters[self.parameters.index(p) + 1:]
        while rest and rest[0].kind == 'buffer':
            rest = rest[1:]
        if [p.kind for p in rest[:2]] == ['count', 'datatype'] and not rest[0].array and not rest[1].array:
            return rest[0].name, rest[1].name
        return None, None

    def narrows(self, p):
        kind = self.description.kinds[p.kind]
        narrower = kind.get('core') == 'int64_t' and kind['c'] == 'int' and self.large is not True
        return p.direction != 'in' and not p.array and narrower

    # The call

    def call(self):
        arguments = [a for a in (self.argument(p) for p in self.function.parameters) if a]
        if self.function.tell_form:
            arguments.append(self.form)
        call = f'error = lanyard_{self.function.core}({", ".join(arguments)});'
        handles = [p for p in self.parameters
                   if p.kind in self.description.handle_of_kind and p.direction == 'inout']
        back = [f'{p.name}_objects.store({p.name});' if p.array else f'store<Abi>({p.name}, {p.name}_object);'
                for p in handles]
        if back:
            lines = ['    if (!error) {', *self.wrapped('        ' + call, ' ' * 12),
                     *[f'        {line}' for line in back], '    }']
        else:
            lines = self.wrapped(f'    if (!error) {call}', ' ' * 8)
        return lines + [self.guarded(line) for line in self.stores]

    def argument(self, p):
        if p.kind == 'varargs':
            return None
        if p.has('large_only') and self.large is False:
            return '0' if p.direction == 'in' else 'nullptr'
        if p.kind in self.description.handle_of_kind:
            return self.object_argument(p)
        if self.narrows(p):
            return f'{p.name}_value.data()'
        if p.name in self.arguments:
            return self.arguments[p.name]
        kind = self.description.kinds[p.kind]
        if 'convert' in kind:
            return f'{kind["convert"]}<Abi>({p.name})'
        if p.kind == 'function':
            return f'callback<Abi>({p.name}, {self.form})'
        if p.kind in ('memory', 'attribute') and p.direction == 'out':
            return f'static_cast<void **>({p.name})'
        if p.array and p.direction == 'in' and kind['core'] == 'int64_t':
            return f'counts({p.name})'
        if kind['c'] in self.description.types['tool_handles']:
            return f'reinterpret_cast<{kind["core"]}{"" if p.direction == "in" else "*"}>({p.name})'
        return p.name

    def object_argument(self, p):
        if p.array:
            may_be_null = 'unless_in_place' in p.options or p.has('nullable')
            return f'{p.name}_objects.{"data_or_null" if may_be_null else "data"}()'
        if p.direction == 'out':
            return f'{p.name} ? &{p.name}_object : nullptr' if p.has('nullable') else f'&{p.name}_object'
        if p.direction == 'inout' or may_be_absent(p):
            return f'{p.name}_object'
        return f'*{p.name}_object'

    # The failure

    def failure(self):
        on = 'RaiseOn()'
        if self.function.raises_on == 'none':
            on = f'RaiseOn::nothing(abi::{core_name(self.chapter["bad_argument"])})'
        elif self.raising:
            on = f'RaiseOn({self.raising.name}_object)'
        shown = ', '.join(self.shown(p) for p in self.parameters if p.kind != 'varargs')
        return self.wrapped(f'    return Abi::fail(error, {on}, entry.name, {{{shown}}});', ' ' * 8)

    def shown(self, p):
        kind = self.description.kinds[p.kind]
        plain = p.direction == 'in' and not p.array
        if p.kind in self.description.handle_of_kind and plain and not p.has('pointer'):
            return f'shown_handle<Abi>("{p.name}", {p.name})'
        if p.direction == 'in' and p.kind == 'string':
            return f'shown_text("{p.name}", {p.name})'
        if p.kind == 'function':
            return f'shown("{p.name}", reinterpret_cast<const void *>({p.name}))'
        if plain and kind.get('c') in self.description.types['enums']:
            return f'shown("{p.name}", static_cast<int>({p.name}))'
        how = kind.get('shown', 'shown') if plain or p.kind == 'buffer' else 'shown'
        return f'{how}("{p.name}", {p.name})'
