"""How large the classes and headers of src are, as tools/tidy.py --sizes prints them.

A header is as wide as the number of names that it offers (class_sizes.py): what a file that includes it can
use, and so what its reader must know.
"""
import class_sizes

SHOWN = 10


def largest(rows):
    """The rows with the largest first values; those of one size in the order of their names."""
    return sorted(rows, key=lambda row: (-row[0], *row[1:3]))[:SHOWN]


def report(sources):
    """`sources`: (path, text) of C++ files whose comments, strings and directives are blanked."""
    classes = [(size.methods + size.members, size.name, path, size)
               for path, code in sources for size in class_sizes.class_sizes(code)]
    headers = [(class_sizes.names_offered(code), path) for path, code in sources if path.endswith(".h")]
    lines = [f"The {SHOWN} widest classes, by methods and data members:"]
    lines += [f"  {size.methods:4} methods {size.members:4} data members  {name} ({path})"
              for _, name, path, size in largest(classes)]
    lines += [f"The {SHOWN} widest headers, by the names that they offer (public functions and data members",
              "of classes, functions and variables outside of classes):"]
    lines += [f"  {names:4} names  {path}" for names, path in largest(headers)]
    return "\n".join(lines)
