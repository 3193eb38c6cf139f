"""Tests that docs/coming-from.md, the page for users of other MPI libraries, agrees with mpirun's options and
with the settings."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LANYARD_BUILD", ROOT / "build" / "release")).absolute()
PAGE = (ROOT / "docs" / "coming-from.md").read_text()


def coming_from(root, *words):
    return subprocess.run([sys.executable, root / "tools" / "coming_from.py", "--build", BUILD, *words],
                          capture_output=True, text=True, timeout=120, check=False)


def copy_of_the_words(folder):
    for name in ("tools/coming_from.py", "docs/coming-from.toml", "docs/coming-from.md"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder / "docs" / "coming-from.toml"


def test_page_is_in_step():
    done = coming_from(ROOT, "--check")
    assert done.returncode == 0, done.stderr


def test_words_that_are_not_true_are_noticed(tmp_path):
    words = copy_of_the_words(tmp_path)
    text = words.read_text()
    for right, wrong, said in (('here = "fan-out"', 'here = "fan-in"', "mpirun has no option fan-in"),
                               ('"LANYARD_CMA"', '"LANYARD_CMB"', "LANYARD_CMB"),
                               ("mpirun -np 8 --hostfile hosts --map-by",
                                "mpirun -np 8 --hostfile hosts --map-on", "there is no option"),
                               ("here = \"ssh\"", "here = \"\"",
                                "has no row for these options of mpirun: --ssh"),
                               ('what = "number of ranks"', 'what = "ranks"', "is not in step")):
        assert right in text
        words.write_text(text.replace(right, wrong))
        done = coming_from(tmp_path, "--check")
        assert done.returncode != 0 and said in done.stderr, (wrong, done.stderr)


def test_page_answers_what_users_type():
    assert ("mpirun --oversubscribe -np 4 --bind-to core --mca btl tcp,self -x OMP_NUM_THREADS "
            "./program") in PAGE
    for name in ("OMPI_MCA_btl_tcp_if_include", "I_MPI_FABRICS", "MPIR_CVAR_", "FI_PROVIDER",
                 "UCX_NET_DEVICES"):
        assert name in PAGE
    assert "| `--map-by core` | --map-by takes slot, node or ppr:N:node, not \"core\" |" in PAGE


def test_readme_leads_there():
    assert re.search(r"\]\(docs/coming-from\.md\)", (ROOT / "README.md").read_text())
