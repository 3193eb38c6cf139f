"""Each function has two names: PMPI_x, which is the library's, and MPI_x, which a tool or a program may define itself."""
import subprocess


def test_both_names_are_one_function(description, library):
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    found = {}
    for line in done.stdout.splitlines():
        address, kind, name = line.split()
        found[name] = (address, kind)
    names = [name for function in description.functions for name, _large in function.forms()]
    assert len(names) > 500
    weak = [name for name in names if found[name][1] != "W"]
    strong = [name for name in names if found["P" + name][1] != "T"]
    assert not weak, f"a program cannot define these itself, as they are not weak: {weak}"
    assert not strong, f"these names of the library are not strong: {strong}"
    assert not [name for name in names if found[name][0] != found["P" + name][0]]
