"""Generates man pages for section 3, with the content of docs/reference/.

Each function has a page. The page of the large-count form only refers to the page of the function.
"""

import re

from .reference import MPI_NAME, Reference


def generate(description, output):
    reference = Reference(description)
    for function in description.functions:
        output.write(f'{function.name}.3', Manual(reference, function).lines())
        for name, large in function.forms():
            if large:
                output.write(f'{name}.3', [f'.so man3/{function.name}.3'])


def escaped(text):
    return text.replace('\\', '\\e').replace('-', '\\-')


def protected(line):
    """Returns a line of text. If the line begins like a roff request, `\&` is put before it, so that roff
    prints the line."""
    return '\\&' + line if line[:1] in ('.', "'") else line


class Manual:
    def __init__(self, reference, function):
        self.reference, self.function, self.page = reference, function, reference.page(function)

    def text(self, text):
        """Returns text with parameter names in italics and MPI names in bold, one sentence per line."""
        marked = re.sub(r'`(.*?)`', r'\\fI\1\\fR', escaped(text))
        marked = re.sub(rf'(?<!fI){MPI_NAME.pattern}', r'\\fB\g<0>\\fR', marked)
        sentences = re.sub(r'(?<=[a-z)`RL0-9][.]) (?=[A-Z\\])', '\n', marked).split('\n')
        return [protected(line) for line in sentences]

    def lines(self):
        page, description = self.page, self.reference.description
        names = ', '.join(escaped(name) for name, _large in self.function.forms())
        version = '.'.join(str(description.value_of(f'MPI_{part}')) for part in ('VERSION', 'SUBVERSION'))
        summary = self.function.says[0].lower() + self.function.says[1:].removesuffix('.')
        lines = [f'.TH {page.name} 3 "" "Lanyard" "MPI {version}"', '.SH NAME',
                 f'{names} \\- {escaped(summary)}', '.SH SYNOPSIS', '.nf',
                 *[protected(f'\\fB{escaped(line)}\\fR') if line else '' for line in page.synopsis], '.fi']
        lines = [line or '.sp' for line in lines]
        if page.parameters:
            lines.append('.SH PARAMETERS')
            for name, direction, sentence in page.parameters:
                lines += ['.TP', f'\\fI{escaped(name)}\\fR ({direction})', *self.text(sentence)]
        lines += self.section('DESCRIPTION', page.paragraphs)
        lines += self.section('RETURN VALUE', page.returns)
        if page.errors:
            lines.append('.SH ERRORS')
            for name, sentence in page.errors:
                lines += ['.TP', f'\\fB{name}\\fR', *self.text(sentence)]
        lines += self.section('LANYARD', page.notes)
        lines += self.section('VERSIONS', page.versions)
        if page.see:
            lines.append('.SH SEE ALSO')
            lines += [f'.BR {name} (3){"," if name != page.see[-1] else ""}' for name in page.see]
        return lines

    def section(self, title, paragraphs):
        lines = [f'.SH {title}']
        for paragraph in paragraphs:
            lines += ['.PP', *self.text(paragraph)] if len(lines) > 1 else self.text(paragraph)
        return lines if paragraphs else []
