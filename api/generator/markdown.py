"""Generates docs/reference/: a page for each function, tables of constants and datatypes, and an index."""

import re

from .header import literal
from .predefined import short
from .reference import MPI_NAME, Reference
from .text import NOTICE

FOLDER = 'docs/reference/'


def generate(description, output):
    reference = Reference(description)
    for function in description.functions:
        page = FunctionPage(reference, function)
        output.write(f'{FOLDER}{function.chapter}/{function.name}.md', page.lines())
    output.write(f'{FOLDER}constants.md', constants(reference))
    output.write(f'{FOLDER}datatypes.md', datatypes(description))
    output.write(f'{FOLDER}README.md', index(reference))
    output.remove_others(FOLDER)


def linked(text, reference, here=None, chapter=None):
    """Returns a text with function names as links and other MPI names as code.

    Links are relative to the folder of `chapter`, or to docs/reference/ if `chapter` is None. The name
    `here`, to which the page itself belongs, is not linked.
    """
    def link(match):
        name = match[0]
        function = reference.by_name.get(name) or reference.by_name.get(name.removesuffix('_c'))
        if not function or function.name == here:
            return f'`{name}`'
        above = '../' if chapter else ''
        folder = '' if function.chapter == chapter else f'{above}{function.chapter}/'
        return f'[{name}]({folder}{function.name}.md)'
    parts = re.split(r'(`[^`]*`)', text)
    return ''.join(part if part.startswith('`') else MPI_NAME.sub(link, part) for part in parts)


class FunctionPage:
    def __init__(self, reference, function):
        self.reference, self.function, self.page = reference, function, reference.page(function)

    def text(self, text):
        return linked(text, self.reference, self.function.name, self.function.chapter)

    def lines(self):
        page, chapter = self.page, self.reference.description.chapters[self.function.chapter]['title']
        lines = [f'<!-- {NOTICE} -->', f'# {page.name}', '', self.text(self.function.says), '',
                 '```c', *page.synopsis, '```', '']
        if page.parameters:
            lines += ['## Parameters', '', '| name | direction | meaning |', '|---|---|---|']
            lines += [f'| `{name}` | {direction} | {cell(self.text(sentence))} |'
                      for name, direction, sentence in page.parameters]
            lines.append('')
        lines += self.section('Description', page.paragraphs)
        lines += self.section('Return value', page.returns)
        if page.errors:
            lines += ['| error class | meaning |', '|---|---|',
                      *[f'| `{name}` | {sentence} |' for name, sentence in page.errors], '']
        lines += self.section('Lanyard', page.notes)
        lines += self.section('Versions', page.versions)
        if page.see:
            lines += ['## See also', '', ', '.join(self.text(name) for name in page.see), '']
        return lines + [f'Chapter: [{chapter}](../README.md#{anchor(chapter)})']

    def section(self, title, paragraphs):
        body = [line for paragraph in paragraphs for line in (self.text(paragraph), '')]
        return [f'## {title}', '', *body] if body else []


def cell(text):
    return text.replace('|', '\\|')


def anchor(title):
    return re.sub(r'[^\w -]', '', title.lower()).replace(' ', '-')


def index(reference):
    description = reference.description
    introduction = linked(reference.calls['index'].strip(), reference)
    lines = [f'<!-- {NOTICE} -->', '# Reference', '', *introduction.split('\n'), '']
    for stem in dict.fromkeys([*reference.calls['chapters'], *description.chapters]):
        chapter = description.chapters[stem]
        about = ' '.join(reference.chapters[stem][0]['about'].split())
        lines += [f'## {chapter["title"]}', '', linked(about, reference), '']
        lines += ['| function | |', '|---|---|']
        members = [f for f in description.functions if f.chapter == stem]
        lines += [f'| [{f.name}]({stem}/{f.name}.md) | {cell(linked(f.says, reference, f.name))} |'
                  for f in members]
        lines.append('')
    lines += ['## In alphabetical order', '']
    members = sorted(description.functions, key=lambda f: f.name.lower())
    lines += [f'- [{f.name}]({f.chapter}/{f.name}.md)' for f in members]
    return lines


def constants(reference):
    description = reference.description
    lines = [f'<!-- {NOTICE} -->', '# Constants', '',
             'All constants of `mpi.h` with their values in the ABI. The [datatypes](datatypes.md) are on a '
             'separate page.', '']
    for name, group in description.constants.items():
        lines += [f'## {group["title"]}', '',
                  '| name | value | type | since | meaning |', '|---|---|---|---|---|']
        lines += [f'| {" | ".join(constant_row(reference, name, constant, c))} |'
                  for constant, c in group['values'].items()]
        lines.append('')
    return lines


def constant_row(reference, group, name, c):
    description = reference.description
    c_type = c.get('c_type', description.constants[group].get('c_type'))
    c_type = next((enum for enum, of in description.types['enums'].items() if of == group), c_type)
    value = literal(c['value'], 'int', c_type.startswith('MPI_') and c['value'] > 0xf).strip('()')
    since = [f'MPI-{c["since"]}'] if 'since' in c else []
    since += [f'deprecated since MPI-{c["deprecated"]}'] if 'deprecated' in c else []
    meaning = cell(linked(reference.meaning(name, c), reference))
    return [f'`{name}`', value, f'`{c_type}`', ', '.join(since), meaning]


def datatypes(description):
    lines = [f'<!-- {NOTICE} -->', '# Predefined datatypes', '',
             'Sizes and extents are in bytes. They are those of x86-64 and aarch64 Linux, and of Fortran',
             'with its default kinds. The last column lists the predefined operations that a reduction may',
             'use with the datatype. The standard does not define the operations in parentheses, but this',
             'library accepts them, as other libraries do. With `LANYARD_CHECK=on`, it rejects them if the',
             'program uses the standard ABI.', '',
             '| datatype | type | value | size | extent | operations |', '|---|---|---|---|---|---|']
    for name, d in description.datatypes.items():
        synonym = f'the same as `{d["synonym_of"]}`' if 'synonym_of' in d else ''
        kind = f'`{d["type"]}`' if 'type' in d else synonym
        operations = short(description.reductions.get(d.get('group'), []))
        if name in description.accepted:
            operations = f'{operations} ({short(description.accepted[name])})'.strip()
        size, extent = d.get('size', ''), d.get('extent', d.get('size', ''))
        lines.append(f'| `{name}` | {cell(kind)} | 0x{d["value"]:03x} | {size} | {extent} | {operations} |')
    return lines
