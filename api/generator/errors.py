"""Generates src/api/generated/error_text.h: the name and the text of each error class."""

from .text import NOTICE


def generate(description, output):
    lines = [
        '// The names and texts of the error classes of MPI-5.0, for error strings and reports.',
        f'// {NOTICE}', '#pragma once', '', 'namespace lanyard {', '',
        'struct ErrorText {', '    int error_class;', '    const char *name;', '    const char *sentence;',
        '};', '']
    for group, array in (('error_class', 'error_texts'), ('tool_error_class', 'tool_error_texts')):
        values = description.constants[group]['values']
        lines.append(f'// {description.constants[group]["title"]}, in the order of their values.')
        lines += [f'inline constexpr ErrorText {array}[{len(values)}] = {{']
        lines += [f'    {{{c["value"]}, "{name}", "{c["says"]}"}},' for name, c in values.items()]
        lines += ['};', '']
    lines += ['// The text of an error class, or nullptr if the value is not an error class.',
              'constexpr const ErrorText *find_error_text(int error_class) {',
              '    for (const ErrorText &text : error_texts)',
              '        if (text.error_class == error_class) return &text;',
              '    for (const ErrorText &text : tool_error_texts)',
              '        if (text.error_class == error_class) return &text;',
              '    return nullptr;', '}', '', '}  // namespace lanyard']
    output.write('src/api/generated/error_text.h', lines)
