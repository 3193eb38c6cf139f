// The options of mpirun as data, and the other paragraphs of its help and manual page. Read by options.cc.
#pragma once

namespace lanyard::launch {

enum class Option {
    ranks, exported, everyone, own, folder, initial_errhandler, alloc_kinds, tag, output, out_pattern,
    err_pattern, timeout, profile, standard_input, bind, hosts, host_file, ranks_per_host, map_by, by_node,
    remote_shell, prefix, fan_out, as_always, foreign_settings, help, version, manual,
};

struct OptionRow {
    Option option;
    const char *names;      // without dashes, separated by spaces; the first is the one shown first
    const char *arguments;  // the words that follow it, as the help shows them; "" if there are none
    const char *sentence;   // "" keeps the option out of the help
};

inline constexpr OptionRow option_table[] = {
    {Option::ranks, "n np c", "N",
     "Start N ranks of the program that follows (1 if left out). They may outnumber the processors."},
    {Option::exported, "x", "NAME[=VALUE]",
     "Set a variable for this program alone. All of mpirun's environment is passed on anyway; so NAME alone "
     "only tells you if it is not set."},
    {Option::everyone, "genv", "NAME VALUE",
     "Set a variable for the ranks of all programs (also written NAME=VALUE)."},
    {Option::own, "env", "NAME VALUE", "As -x, with a value always (also written NAME=VALUE)."},
    {Option::folder, "wdir wd", "DIR", "Start this program alone in folder DIR."},
    {Option::initial_errhandler, "initial-errhandler", "NAME",
     "What errors meet at first in this program: mpi_errors_are_fatal (if left out), mpi_errors_abort or "
     "mpi_errors_return."},
    {Option::alloc_kinds, "memory-alloc-kinds", "KINDS",
     "The kinds of memory that this program wants to communicate from, as in system,mpi."},
    {Option::tag, "l tag-output prepend-rank", "",
     "Begin every line of output with its rank, as in \"[3] \". Lines are never mixed."},
    {Option::output, "output", "DIR", "Write what rank N prints into the file DIR/rank-N.out instead."},
    {Option::out_pattern, "outfile-pattern", "NAME",
     "Write standard output of each rank into a file; %r in its name stands for the rank, %h for the host."},
    {Option::err_pattern, "errfile-pattern", "NAME", "The same for standard error."},
    {Option::timeout, "timeout", "SECONDS",
     "End the job when it runs longer, saying what each rank waits for, with exit code 124."},
    {Option::profile, "profile", "",
     "Print at the end what the job spent in MPI, and write the numbers of every rank into "
     "lanyard-profile-<job>.json (docs/profile.md)."},
    {Option::standard_input, "stdin", "RANK|none",
     "Which rank reads mpirun's standard input (0 if left out); the others read nothing."},
    {Option::bind, "bind-to", "none|core|auto",
     "Keep each rank on a processor core of its own (core), nowhere in particular (none), or within one "
     "memory domain where the machine has several (auto, the default)."},
    {Option::hosts, "host hosts H", "NAMES",
     "Run on these hosts, as in \"a:4,b,[fe80::1]:2\": each gets as many ranks as the number after it (1 if "
     "left out) before the next has its turn; further ranks go round again."},
    {Option::host_file, "f hostfile machinefile", "FILE",
     "The same from a file, one host a line: HOST, HOST:SLOTS or HOST slots=N max_slots=N; '#' begins a "
     "comment."},
    {Option::ranks_per_host, "ppn perhost npernode N", "N",
     "Give each host N ranks in its turn, whatever its slots. Without -n: N ranks on each host."},
    {Option::map_by, "map-by", "slot|node|ppr:N:node",
     "Fill the slots of each host before the next (slot, the default), deal ranks to the hosts in turn "
     "(node), or start at most N on each host (ppr)."},
    {Option::by_node, "rr bynode", "", "As --map-by node."},
    {Option::remote_shell, "ssh launcher-exec", "PROGRAM",
     "Start other hosts with PROGRAM HOST WORDS instead of ssh; words after PROGRAM, as in \"ssh -p 2222\", "
     "come before the host."},
    {Option::prefix, "prefix", "DIR", "Where Lanyard is on the other hosts, if not where it is here."},
    {Option::fan_out, "fan-out", "N",
     "Let each host start up to N others (16 if left out): with more hosts, hosts start hosts."},
    {Option::as_always, "oversubscribe use-hwthread-cpus allow-run-as-root genvall envall", "", ""},
    {Option::foreign_settings, "mca gmca omca pmca prtemca pmixmca", "NAME VALUE", ""},
    {Option::help, "help h", "", "Print this text."},
    {Option::version, "version V", "", "Print the version."},
    {Option::manual, "manual", "", ""},
};

inline constexpr const char *usage_line =
    "mpirun [OPTIONS] PROGRAM [ARGUMENTS] [: [OPTIONS] PROGRAM [ARGUMENTS]]...";

inline constexpr const char *summary = "start the ranks of an MPI program, here or on several hosts";

inline constexpr const char *description[] = {
    "mpirun (also called mpiexec) starts several copies of a program, the ranks of one MPI job, waits for "
    "them and passes on what they print. Programs separated by ':' make up one job; -n, -x, -env and -wdir "
    "are for the program they stand before, all other options for the whole job. It prints nothing of its "
    "own when all goes well.",
    "When a rank fails, mpirun says which one and why, ends the others and every process they have started, "
    "and exits with the code of the first rank that failed. The signals HUP, INT, TERM, USR1, USR2, ALRM, "
    "CONT, TSTP and WINCH are passed on to the ranks; a second INT or TERM ends the job. QUIT (Ctrl-\\) "
    "prints what each rank is waiting for and leaves them running.",
    "Ranks on other hosts are started by a remote shell, ssh, which must let you in without a password. They "
    "start in a folder of the same name as here, in the environment of mpirun, and Lanyard must be installed "
    "there at the same place.",
    "Ranks are offered PMI-1 on an inherited descriptor, so programs built for MPICH and its relatives start "
    "as well.",
};

struct Outcome {
    const char *code;
    const char *sentence;
};
inline constexpr Outcome exit_codes[] = {
    {"0", "All ranks ended with exit code 0."},
    {"2", "The command line could not be understood."},
    {"124", "The time of --timeout was over."},
    {"126", "The program is there but cannot be executed."},
    {"127", "The program was not found."},
    {"128+N", "The first rank that failed was killed by signal N."},
    {"other", "The exit code of the first rank that failed, or the code given to MPI_Abort."},
};

inline constexpr Outcome variables[] = {
    {"LANYARD_SHM_DIR", "Folder in which the memory shared by the ranks is made (/dev/shm if not set)."},
    {"LANYARD_PEER_TIMEOUT",
     "Seconds after which a host that has fallen silent is taken for lost, and the time it has to start (60 "
     "if not set)."},
    {"MPIEXEC_TIMEOUT", "As --timeout, which goes before it."},
    {"LANYARD_RANK, LANYARD_SIZE, LANYARD_LOCAL_RANK, LANYARD_LOCAL_SIZE",
     "Set for every rank, for scripts between mpirun and the program."},
    {"OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE, _NODE_RANK, PMI_RANK, PMI_SIZE, "
     "MPI_LOCALRANKID, MPI_LOCALNRANKS",
     "The same under the names of Open MPI's and MPICH's launchers, for scripts that read those."},
};

}  // namespace lanyard::launch
