"""Lists the largest classes and headers of src. tools/tidy.py --sizes prints this list.

The width of a header is the number of names that it offers (class_sizes.py). These are the names that a file
can use if it includes the header, so its reader must know them.
"""
import class_sizes

SHOWN = 10


def largest(rows):
    """Returns the rows with the largest first values. Rows of one size are in the order of their names."""
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
