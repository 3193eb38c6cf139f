"""The doors: src/doors/mpi_abi/ and its like, one file of entry points for each chapter, and what they need.

An entry point checks its arguments, turns handles into objects, calls the typed function and turns the results back. Each step
is one line, skipped after the first error. In the door of another ABI than the standard's (abi.py) what the program gave is
translated first, so that the checks see the standard's values, and the results last.
"""

from . import foreign_header, translations
from .abi import ForeignAbi, StandardAbi
from .constants import core_name
from .core import may_be_absent
from .description import c_prototype
from .text import NOTICE, wrapped

FOLDER = 'src/doors/mpi_abi/'
ELEMENTS = {'comm_size': '{}->size', 'group_size': '{}->group->size()',
            'in_neighbors': 'neighbors(*{}).in', 'out_neighbors': 'neighbors(*{}).out'}
CONDITIONS = {'root': 'at_root', 'leaf': 'at_leaf', 'part': 'takes_part'}


def generate(description, output):
    standard = StandardAbi(description)
    handle_types(description, output)
    handle_names(description, output)
    entry_points(standard, description, output)
    foreign = ForeignAbi(description, 'mpich_abi')
    translations.generate(foreign, description, output)
    entry_points(foreign, description, output)
    foreign_header.generate(foreign, description, output)


def entry_points(abi, description, output):
    folder = f'src/doors/{abi.name}/'
    for stem, chapter in abi.chapters.items():
        functions = [f for f in abi.functions if f.chapter == stem]
        lines = [
            f'// {chapter["title"]}: the entry points of {abi.library}. Each checks, converts, calls a typed function of the core',
            '// library and raises what went wrong; MPI_x is a weak name of PMPI_x.',
            f'// {NOTICE}', '']
        names = sorted({f'lanyard_{f.core}' for f in functions if not abi.door_function(f)})
        if names:
            lines += ['// A typed function that the core library lacks is a null pointer.', *[f'#pragma weak {n}' for n in names], '']
        lines += [f'#include "doors/{abi.name}/convert.h"', '']
        lines += ['using namespace lanyard;', f'using namespace lanyard::{abi.name};', '']
        lines += ['#pragma GCC visibility push(default)', 'extern "C" {', ''] if abi.declares_functions_itself else ['extern "C" {', '']
        for function in functions:
            for name, large in function.forms():
                lines += EntryPoint(abi, description, function, name, large).lines() + ['']
        lines += ['}  // extern "C"', *(['#pragma GCC visibility pop'] if abi.declares_functions_itself else [])]
        output.write(f'{folder}{stem}.cc', lines)
    chapter_list = [f'  {stem}.cc' for stem in abi.chapters]
    output.write(f'{folder}entry_points.cmake', [f'# {NOTICE}', 'set(entry_points', *chapter_list, ')'])


def error_class(name):
    short = name.removeprefix('MPI_ERR_').lower()
    return f'ErrorClass::{short}'


def handle_types(description, output):
    lines = ['// What each handle of the MPI-5.0 ABI stands for: its object, its null handle, the class of errors about it.',
             f'// {NOTICE}', '#pragma once', '', '#include "api/types.h"', '#include "base/error.h"', '',
             'namespace lanyard::mpi_abi {', '', 'template <class MpiHandle>', 'struct HandleType;', '']
    for name, handle in description.types['handles'].items():
        null = handle['null'].removeprefix('MPI_').lower()
        lines += ['template <>', f'struct HandleType<{name}> {{', f'    using Object = {handle["core"]};',
                  f'    static constexpr int null = abi::{null};', f'    static constexpr ErrorClass error = {error_class(handle["error"])};',
                  '};', '']
    lines += ['}  // namespace lanyard::mpi_abi']
    output.write(f'{FOLDER}handle_types.h', lines)


def handle_names(description, output):
    rows = []
    for group in description.constants.values():
        if group.get('c_type') in description.types['handles']:
            rows += [(c['value'], name) for name, c in group['values'].items()]
    rows += [(d['value'], name) for name, d in description.datatypes.items() if 'synonym_of' not in d]
    lines = ['// The names of the predefined handles.', f'// {NOTICE}', '#pragma once', '', 'namespace lanyard {', '',
             'struct HandleName {', '    int value;', '    const char *name;', '};', '',
             f'inline constexpr HandleName handle_names[{len(rows)}] = {{',
             *[f'    {{0x{value:03x}, "{name}"}},' for value, name in sorted(rows)], '};', '', '}  // namespace lanyard']
    output.write('src/api/generated/handle_names.h', lines)


class EntryPoint:
    """One entry point: its lines are gathered step by step."""

    def __init__(self, abi, description, function, name, large):
        self.abi, self.description, self.function, self.name, self.large = abi, description, function, name, large
        self.chapter = abi.chapters[function.chapter]
        self.parameters = function.in_form(large)
        self.raising = next((p for p in self.parameters if p.name == function.raises_on), None)
        self.openings, self.objects, self.roots, self.converts, self.checks, self.buffers, self.stores = [], [], [], [], [], [], []
        self.arguments, self.statuses = {}, []
        self.roles = {}  # {what this process is in a rooted collective: the condition for it}; asked for once

    def lines(self):
        alias = f'#pragma weak {self.name} = P{self.name}'
        head = wrapped(c_prototype(self.description, self.function, 'P' + self.name, self.large) + ' {', '        ')
        if self.abi.door_function(self.function):
            arguments = ', '.join(p.name for p in self.parameters)
            return [*head, f'    return {self.abi.door_function(self.function)}({arguments});', '}', alias]
        if self.function.value:
            arguments = ', '.join(p.name for p in self.parameters)
            return [*head, f'    return lanyard_{self.function.core}({arguments});', '}', alias]
        return [*head, *self.body(), '}', alias]

    def body(self):
        first = []
        if self.function.starts:
            self.openings.append('lanyard_use_door(door);')
        if self.name in self.abi.other_ways:
            condition, way = self.abi.other_ways[self.name]
            self.openings += [f'if ({condition})', f'    return {way}({", ".join(p.name for p in self.parameters)});']
        for p in self.parameters:
            self.translate(p)
        if self.function.state == 'active':
            first.append('error = check_active(state);' if self.timed() else 'error = check_active();')
        if self.raising:
            self.convert_object(self.raising, first)
        code = f', abi::{core_name(self.chapter["missing"])}' if 'missing' in self.chapter else ''
        first.append(f'error = check_available(lanyard_{self.function.core}, "{self.name}"{code});')
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
        lines += ['    if (!error) return MPI_SUCCESS;', *self.failure()]
        return lines

    def timed(self):
        """The call times itself where that is wanted (src/api/timed_call.h): none that may come at any time, or has unknown arguments."""
        if self.function.state != 'active' or any(p.kind == 'varargs' for p in self.parameters):
            return []
        arguments = ', '.join(p.name for p in self.parameters)
        return ['ProcessState state = process_state();',
                'if (state != ProcessState::active && to_be_timed(state))',
                *wrapped(f'    return timed("{self.name}", [=] {{ return P{self.name}({arguments}); }});', ' ' * 12)]

    def guarded(self, step):
        if step.startswith('if ('):
            return '    if (!error && ' + step[4:]
        return f'    if (!error) {step}'

    # The values of another ABI to the standard's, and back

    def translate(self, p):
        """What becomes of a parameter in the door of another ABI: the argument of the typed function, and lines before and after."""
        kind = self.abi.translation(p)
        if p.kind == 'status' and self.abi.translates_status():
            self.translate_status(p)
        elif self.abi.shorter(p) and p.direction == 'in':
            pass
        elif self.abi.shorter(p):
            length = next((q.name for q in self.parameters if q.kind == 'string_length' and q.direction == 'out'), 'nullptr')
            self.objects.append(f'char {p.name}_text[abi::{core_name(p.array)}] = "";')
            self.arguments[p.name] = f'{p.name}_text'
            self.stores.append(f'copy_text({p.name}_text, {p.name}, {self.abi.shorter(p)}, {length});')
        elif kind is None:
            pass
        elif 'by' in p.options:
            others = ', '.join(self.value(q) for name in p.options['by'].split(',') for q in self.parameters if q.name == name)
            self.stores.append(f'{kind}_out({p.name}, {others});')
        elif p.kind == 'buffer' or (p.direction == 'in' and not p.array):
            self.openings.append(f'{p.name} = {kind}_in({p.name});')
        elif p.array:
            self.translate_array(p, kind)
        else:
            self.translate_result(p, kind)

    def value(self, p):
        if p.kind in self.description.handle_of_kind:
            return f'*{p.name}_object'
        return p.name if p.direction == 'in' else f'*{p.name}'

    def translate_array(self, p, kind):
        if p.direction == 'in':
            self.objects.append(f'Translated<{kind}_in> {p.name}_values;')
            self.arguments[p.name] = f'{p.name}_values.data()'
        elif self.length(p):
            self.stores.append(f'translate<{kind}_out>({p.name}, {self.length(p)});')

    def translate_result(self, p, kind):
        core, place = self.description.kinds[p.kind]['core'], f'*{p.name}'
        if core == 'void *':
            place = f'*static_cast<void **>({p.name})'
        self.objects.append(f'{core}{"" if core.endswith("*") else " "}{p.name}_value{{}};')
        if p.direction == 'inout':
            self.buffers.append(f'{p.name}_value = {kind}_in({place});')
        self.arguments[p.name] = f'{p.name} ? &{p.name}_value : nullptr' if p.has('nullable') else f'&{p.name}_value'
        condition = f'if ({p.name}) ' if p.has('nullable') else ''
        self.stores.append(f'{condition}{place} = {kind}_out({p.name}_value);')

    def translate_status(self, p):
        self.openings.append(f'{p.name} = status_in({p.name});')
        if p.array:
            self.objects.append(f'ResultStatuses {p.name}_value;')
            self.buffers.append(f'error = {p.name}_value.reserve("{p.name}", {p.name}, {p.array});')
        else:
            kind = 'ResultStatus' if p.direction == 'out' else f'GivenStatus<StatusPart::{p.options["part"]}>'
            self.objects.append(f'{kind} {p.name}_value({p.name});')
        self.arguments[p.name] = self.abi.status.format(p.name) if p.direction == 'out' else f'*{p.name}_value.data()'
        if p.direction != 'in':
            self.statuses.append(f'{p.name}_value.store({p.name});')

    # Arguments to objects and numbers

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
        elif not p.has('nullable') and not (p.kind == 'status' and p.direction == 'out') and not p.has('by_value'):
            self.check_place(p)
        if self.narrows(p):
            self.objects.append(f'int64_t {p.name}_value = 0;')
            if p.direction == 'inout':
                self.checks.append(f'{p.name}_value = *{p.name};')
            option = p.options.get('overflow')
            self.stores.append(f'narrow_or_undefined({p.name}_value, {p.name});' if option == 'undefined'
                               else f'error = narrow("{p.name}", {p.name}_value, {p.name});')

    def convert_object(self, p, steps):
        core = self.description.types['handles'][self.description.handle_of_kind[p.kind]]['core']
        self.objects.append(f'{core} *{p.name}_object = nullptr;')
        if p.direction == 'out' and p.has('nullable'):
            self.stores.append(f'if ({p.name}) store({p.name}, {p.name}_object);')
            return
        if p.direction == 'out':
            steps.append(f'error = check_out("{p.name}", {p.name});')
            self.stores.append(f'store({p.name}, {p.name}_object);')
            return
        handle = p.name
        if p.direction == 'inout' or p.has('pointer'):
            steps.append(f'error = check_out("{p.name}", {p.name});')
            handle = '*' + p.name
        find = 'find_committed' if p.has('committed') else 'find_or_null' if p.has('null') else 'find'
        nothing = self.nothing(p)
        nothing = f', [&] {{ return {nothing}; }}' if nothing else ''
        steps.append(self.where(p) + f'error = {find}("{p.name}", {handle}, {p.name}_object{nothing});')

    def convert_objects(self, p):
        length = self.length(p)
        if p.has('nullable'):
            length = f'{p.name} ? {length} : 0'
        self.objects.append(f'Objects<{self.description.handle_of_kind[p.kind]}> {p.name}_objects;')
        method = 'reserve' if p.direction == 'out' else 'find_committed' if p.has('committed') else 'find_or_null' if p.has('null') else 'find'
        elements = f', {self.counts_of(p).name}' if p.has('committed') else ''
        self.checks.append(self.where(p) + f'error = {p.name}_objects.{method}("{p.name}", {p.name}, {length}{elements});')
        if p.direction == 'out':
            self.stores.append(f'{p.name}_objects.store_found({p.name});')

    def counts_of(self, datatype):
        """How many elements of a datatype are communicated: the nearest count before it; None where it is one."""
        before = self.parameters[:self.parameters.index(datatype)]
        return next((p for p in reversed(before) if p.kind in ('count', 'large_count') and p.direction == 'in'), None)

    def nothing(self, datatype):
        """The condition under which nothing is communicated with a datatype: no element, or with no process."""
        counts = self.counts_of(datatype)
        if not datatype.has('committed') or not counts:
            return None
        conditions = [f'all_zero({counts.name}, {self.length(counts)})' if counts.array else f'{counts.name} == 0']
        kinds = {'send': ('dest',), 'recv': ('source',)}.get(datatype.name[:4], ('dest', 'source'))
        peers = [f'{p.name} == abi::proc_null' for p in self.parameters if p.kind in kinds]
        if peers:
            conditions.append(f'({" && ".join(peers)})' if len(peers) > 1 else peers[0])
        return ' || '.join(conditions)

    def length(self, p):
        """How many values an array has, where that is known before the call."""
        if 'elements' in p.options:
            return ELEMENTS[p.options['elements']].format(f'{self.raising.name}_object')
        length = next((q for q in self.parameters if q.name == p.array), None)
        return f'value_or_0({length.name})' if length and length.direction == 'inout' else p.array if length else None

    def where(self, p):
        """The condition under which a parameter of a collective is significant at this process."""
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
            if self.length(p) and self.abi.translation(p):
                self.checks.append(self.where(p) + f'error = {p.name}_values.read("{p.name}", {p.name}, {self.length(p)});')
            elif self.length(p):
                check = 'check_counts' if p.kind == 'count' and 'elements' in p.options else 'check_array'
                self.checks.append(self.where(p) + f'error = {check}("{p.name}", {p.name}, {self.length(p)});')
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
        """A text must be there; the library knows how long it may be, but for an ABI that allows less."""
        self.checks.append(f'error = check_string("{p.name}", {p.name});')
        if self.abi.shorter(p):
            error = p.options.get('error', 'arg')
            self.checks.append(f'error = check_text_length("{p.name}", {p.name}, {self.abi.shorter(p)}, ErrorClass::{error});')

    def check_place(self, p):
        """Where a result goes: it must be there."""
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
            self.buffers.append(f'error = check_in_place_at_root("{p.name}", {p.name}, {root}, {comm});' if root
                               else f'error = check_in_place("{p.name}", {p.name}, {comm});')
        condition = self.where(p)
        if p.has('in_place') and count:
            condition = condition[:-2] + f' && !in_place({p.name})) ' if condition else f'if (!in_place({p.name})) '
        if p.options.get('elements'):  # without a neighbour there is nothing that must be there
            condition = f"if ({ELEMENTS[p.options['elements']].format(self.raising.name + '_object')} > 0) "
        if count:
            self.buffers.append(condition + f'error = check_buffer("{p.name}", {p.name}, {count}, *{datatype}_object);')
        elif not p.has('in_place') and not p.has('anywhere'):
            self.buffers.append(condition + f'error = check_not_in_place("{p.name}", {p.name});')

    def described_by(self, p):
        """The count and datatype directly behind a buffer (another buffer may lie between)."""
        rest = self.parameters[self.parameters.index(p) + 1:]
        while rest and rest[0].kind == 'buffer':
            rest = rest[1:]
        if len(rest) > 1 and rest[0].kind == 'count' and rest[1].kind == 'datatype' and not rest[0].array and not rest[1].array:
            return rest[0].name, rest[1].name
        return None, None

    def narrows(self, p):
        kind = self.description.kinds[p.kind]
        return p.direction != 'in' and not p.array and kind.get('core') == 'int64_t' and kind['c'] == 'int' and not self.large

    # The call

    def call(self):
        arguments = [a for a in (self.argument(p) for p in self.function.parameters) if a]
        if self.function.tell_form:
            arguments.append('true' if self.large else 'false')
        call = f'error = lanyard_{self.function.core}({", ".join(arguments)});'
        back = [f'store({p.name}, {p.name}_object);' if not p.array else f'{p.name}_objects.store({p.name});'
                for p in self.parameters if p.kind in self.description.handle_of_kind and p.direction == 'inout']
        if back:
            lines = ['    if (!error) {', *wrapped('        ' + call, ' ' * 12), *[f'        {line}' for line in back], '    }']
        else:
            lines = wrapped(f'    if (!error) {call}', ' ' * 8)
        return lines + [self.guarded(line) for line in self.stores]

    def argument(self, p):
        if p.kind == 'varargs':
            return None
        if p.has('large_only') and not self.large:
            return '0' if p.direction == 'in' else 'nullptr'
        if p.kind in self.description.handle_of_kind:
            return self.object_argument(p)
        if self.narrows(p):
            return f'&{p.name}_value'
        if p.name in self.arguments:
            return self.arguments[p.name]
        kind = self.description.kinds[p.kind]
        if 'convert' in kind:
            return f'{kind["convert"]}({p.name})'
        if p.kind == 'function':
            return f'callback({p.name}, {"true" if self.large else "false"})'
        if p.kind == 'status':
            return f'status_of({p.name})' if p.array or p.direction == 'out' else f'*status_of({p.name})'
        if p.kind in ('memory', 'attribute', 'attached_buffer') and p.direction == 'out':
            return f'static_cast<void **>({p.name})'
        if p.array and p.direction == 'in' and kind['core'] == 'int64_t':
            return f'counts({p.name})'
        if kind['c'] in self.description.types['tool_handles']:
            return f'reinterpret_cast<{kind["core"]}{"" if p.direction == "in" else "*"}>({p.name})'
        if kind['c'] in self.description.types['enums']:
            return f'static_cast<int>({p.name})' if p.direction == 'in' else f'reinterpret_cast<int *>({p.name})'
        return p.name

    def object_argument(self, p):
        if p.array:
            return f'{p.name}_objects.data_or_null()' if 'unless_in_place' in p.options or p.has('nullable') else f'{p.name}_objects.data()'
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
        return wrapped(f'    return {self.abi.fail}(error, {on}, "{self.name}", {{{shown}}});', ' ' * 8)

    def shown(self, p):
        kind = self.description.kinds[p.kind]
        if p.kind in self.description.handle_of_kind and p.direction == 'in' and not p.array and not p.has('pointer'):
            return f'shown_handle("{p.name}", {p.name})'
        if p.direction == 'in' and p.kind == 'string':
            return f'shown_text("{p.name}", {p.name})'
        if p.kind == 'function':
            return f'shown("{p.name}", reinterpret_cast<const void *>({p.name}))'
        plain = p.direction == 'in' and not p.array
        if plain and (kind.get('c') in self.description.types['enums']):
            return f'shown("{p.name}", static_cast<int>({p.name}))'
        how = kind.get('shown', 'shown') if plain or p.kind == 'buffer' else 'shown'
        return f'{how}("{p.name}", {p.name})'
