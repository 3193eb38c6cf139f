"""Describes the ABIs of the front ends, with the properties that the entry points need.

The library uses the values of the standard ABI, so the front end for that ABI passes numbers, buffers and
statuses on unchanged. Any other ABI has its own folder in api/ with its values (values.toml) and its
additional functions (functions.toml). Its folder in src/doors has hand-written files for the translations
that tables cannot describe.
"""

import fnmatch

from .description import FOLDER


class StandardAbi:
    name = 'mpi_abi'
    library = 'libmpi_abi.so.1'
    # Maps an entry point to a condition and a function of the front end. If the condition is true, this
    # function is called instead.
    other_ways = {}

    def __init__(self, description):
        self.chapters, self.functions = description.chapters, description.functions

    def door_function(self, function):
        """Returns the function of the front end that an entry point calls in place of a body, or None."""
        return function.door


class ForeignAbi(StandardAbi):
    def __init__(self, description, name):
        super().__init__(description)
        self.name, self.description = name, description
        self.groups = description.load(f'{name}/values.toml')
        # sets title, library, status, done_by_door, object_kinds, more_datatypes, markers,
        # other_ways
        vars(self).update(self.groups.pop('abi'))
        self.values = {constant: value for group in self.groups.values() for constant, value in group.items()}
        chapter, functions = description.load_chapter(FOLDER / name / 'functions.toml')
        self.chapters = {**description.chapters, 'beyond': chapter}
        for function in functions:
            function.chapter = 'beyond'
        self.functions = description.functions + functions

    def door_function(self, function):
        return self.done_by_door.get(function.name, function.door)

    def constants_of(self, kind):
        """Returns the constants of a kind: name, value in this ABI (None if it has none) and value in the
        standard ABI."""
        groups = self.description.constants.values()
        standard = {n: c['value'] for group in groups for n, c in group['values'].items()}
        names = [n for pattern in self.description.kinds[kind]['constants']
                 for n in standard if fnmatch.fnmatchcase(n, pattern)]
        return [(n, self.values.get(n), standard[n]) for n in names]
