"""The binary interfaces that the doors have: what sets one apart, as far as the entry points are concerned.

The standard's values are those of the library, so that its door passes numbers, buffers and statuses on as they are. Another ABI
has a folder of its own in api/ with its values (values.toml), the functions it has beside the standard's (functions.toml), and
files in src/doors that translate what no table can.
"""

import fnmatch

from .description import FOLDER


class StandardAbi:
    name = 'mpi_abi'
    library = 'libmpi_abi.so.1'
    other_ways = {}                      # entry point to condition and function: what the door does by itself in a rare case

    def __init__(self, description):
        self.chapters, self.functions = description.chapters, description.functions

    def door_function(self, function):
        """The function of the door that does all the work of an entry point, or None."""
        return function.door


class ForeignAbi(StandardAbi):
    def __init__(self, description, name):
        super().__init__(description)
        self.name, self.description = name, description
        self.groups = description.load(f'{name}/values.toml')
        vars(self).update(self.groups.pop('abi'))  # title, library, status, done_by_door, object_kinds, more_datatypes, markers, other_ways
        self.values = {constant: value for group in self.groups.values() for constant, value in group.items()}
        chapter, functions = description.load_chapter(FOLDER / name / 'functions.toml')
        self.chapters = {**description.chapters, 'beyond': chapter}
        for function in functions:
            function.chapter = 'beyond'
        self.functions = description.functions + functions

    def door_function(self, function):
        return self.done_by_door.get(function.name, function.door)

    def constants_of(self, kind):
        """Name, value here and value in the standard of the constants of a kind."""
        standard = {n: c['value'] for group in self.description.constants.values() for n, c in group['values'].items()}
        names = [n for pattern in self.description.kinds[kind]['constants'] for n in standard if fnmatch.fnmatchcase(n, pattern)]
        return [(n, self.values.get(n), standard[n]) for n in names]
