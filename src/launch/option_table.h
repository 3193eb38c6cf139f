// Contains the options of mpirun as a table, and the other paragraphs of its help and manual page. Only
// options.cc uses this header.
// Tested by: tests/launch/test_options.py, tests/command/test_coming_from.py.
#pragma once

namespace lanyard::launch {

enum class Option {
    ranks, exported, everyone, own, folder, initial_errhandler, alloc_kinds, tag, output, out_pattern,
    err_pattern, timeout, profile, standard_input, bind, hosts, host_file, ranks_per_host, map_by, by_node,
    remote_shell, prefix, fan_out, as_always, foreign_settings, help, version, manual,
};

struct OptionRow {
    Option option;
    const char *names;      // the names without dashes, separated by spaces, in the order of the help
    const char *arguments;  // the words that follow the option, as in the help; "" if there are none
    const char *sentence;   // the text of the help; "" keeps the option out of the help
};

inline constexpr OptionRow option_table[] = {
    {Option::ranks, "n np c", "N",
     "Start N ranks of the program that follows (default: 1). They may outnumber the processors."},
    {Option::exported, "x", "NAME[=VALUE]",
     "Set a variable for this program only. The ranks inherit the whole environment of mpirun. NAME without "
     "a value therefore has no effect, except for a note if the variable is not set."},
    {Option::everyone, "genv", "NAME VALUE",
     "Set a variable for the ranks of all programs (also written NAME=VALUE)."},
    {Option::own, "env", "NAME VALUE", "Like -x, but always with a value (also written NAME=VALUE)."},
    {Option::folder, "wdir wd", "DIR", "Start this program, but no other, in folder DIR."},
    {Option::initial_errhandler, "initial-errhandler", "NAME",
     "The initial error handler of this program: mpi_errors_are_fatal (the default), mpi_errors_abort or "
     "mpi_errors_return."},
    {Option::alloc_kinds, "memory-alloc-kinds", "KINDS",
     "The kinds of memory from which this program wants to communicate, as in system,mpi."},
    {Option::tag, "l tag-output prepend-rank", "",
     "Begin every line of output with its rank, as in \"[3] \". Lines of different ranks are not mixed, "
     "unless a line is longer than 1 MiB."},
    {Option::output, "output", "DIR", "Write the output of rank N to the file DIR/rank-N.out instead."},
    {Option::out_pattern, "outfile-pattern", "NAME",
     "Write the standard output of each rank to a file; %r in its name stands for the rank, %h for the "
     "host."},
    {Option::err_pattern, "errfile-pattern", "NAME", "The same for standard error."},
    {Option::timeout, "timeout", "SECONDS",
     "End the job if it runs longer, report what each rank waits for, and exit with code 124."},
    {Option::profile, "profile", "",
     "Print at the end how the job spent its time in MPI, and write the numbers of every rank to "
     "lanyard-profile-<job>.json (docs/profile.md)."},
    {Option::standard_input, "stdin", "RANK|none",
     "The rank that reads mpirun's standard input (default: 0); the others read nothing."},
    {Option::bind, "bind-to", "none|core|auto",
     "Bind each rank to a processor core of its own (core), to nothing (none), or as fits (auto, the "
     "default): to one memory domain if the machine has several, and to one processor if each processor gets "
     "several ranks, and equally many."},
    {Option::hosts, "host hosts H", "NAMES",
     "Run on these hosts, as in \"a:4,b,[fe80::1]:2\". Each host gets as many ranks as the number after it "
     "(default: 1) before the next host; further ranks start again with the first host."},
    {Option::host_file, "f hostfile machinefile", "FILE",
     "Run on the hosts that a file names, one per line: HOST, HOST:SLOTS or HOST slots=N max_slots=N; '#' "
     "begins a comment."},
    {Option::ranks_per_host, "ppn perhost npernode N", "N",
     "Give each host N ranks in turn, regardless of its slots. Without -n: N ranks on each host."},
    {Option::map_by, "map-by", "slot|node|ppr:N:node",
     "Fill the slots of each host before the next (slot, the default), distribute the ranks over the hosts "
     "in turn (node), or start at most N ranks on each host (ppr)."},
    {Option::by_node, "rr bynode", "", "Like --map-by node."},
    {Option::remote_shell, "ssh launcher-exec", "PROGRAM",
     "Reach other hosts with PROGRAM HOST WORDS instead of ssh; words after PROGRAM, as in \"ssh -p 2222\", "
     "are placed before the host."},
    {Option::prefix, "prefix", "DIR",
     "The folder of Lanyard on the other hosts, if it is not the same as here."},
    {Option::fan_out, "fan-out", "N",
     "Let each host start up to N others (default: 16). If there are more hosts, these start further hosts."},
    {Option::as_always, "oversubscribe use-hwthread-cpus allow-run-as-root genvall envall", "", ""},
    {Option::foreign_settings, "mca gmca omca pmca prtemca pmixmca", "NAME VALUE", ""},
    {Option::help, "help h", "", "Print this text."},
    {Option::version, "version V", "", "Print the version."},
    {Option::manual, "manual", "", ""},
};

inline constexpr const char *usage_line =
    "mpirun [OPTIONS] PROGRAM [ARGUMENTS] [: [OPTIONS] PROGRAM [ARGUMENTS]]...";

inline constexpr const char *summary = "start the ranks of an MPI program, here or on several hosts";

inline constexpr const char *help_paragraphs[] = {
    "mpirun (also called mpiexec) starts several copies of a program, the ranks of one MPI job. It waits for "
    "them and forwards their output. Programs separated by ':' form one job. The options -n, -x, -env, "
    "-wdir, --initial-errhandler and --memory-alloc-kinds apply to the program that follows them, all other "
    "options to the whole job. If nothing fails, mpirun prints nothing of its own.",
    "If a rank fails, mpirun reports which one and why, ends the others and every process that they have "
    "started, and exits with the code of the first rank that failed. It forwards the signals HUP, INT, TERM, "
    "USR1, USR2, ALRM, CONT, TSTP and WINCH to the ranks; a second HUP, INT or TERM ends the job. On QUIT "
    "(Ctrl-\\) it prints what each rank waits for, and the ranks continue.",
    "Ranks on other hosts are started through a remote shell, by default ssh, which must work without a "
    "password. They start in a folder of the same name as here, with the environment of mpirun. Lanyard must "
    "be installed there in the same folder, unless --prefix names another one.",
    ("mpirun offers PMI-1 to the ranks on an inherited descriptor, so programs built for MPICH and its "
     "derivatives start as well."),
};

struct Outcome {
    const char *code;
    const char *sentence;
};
inline constexpr Outcome exit_codes[] = {
    {"0", "All ranks ended with exit code 0."},
    {"2", "The command line is not valid."},
    {"124", "The job ran longer than --timeout allows."},
    {"126", "The program exists but cannot be executed."},
    {"127", "The program was not found."},
    {"128+N", "The first rank that failed was killed by signal N."},
    {"other", "The exit code of the first rank that failed, or the code given to MPI_Abort."},
};

inline constexpr Outcome help_variables[] = {
    {"LANYARD_SHM_DIR", "The folder for the file of memory that the ranks share (default: /dev/shm)."},
    {"LANYARD_PEER_TIMEOUT",
     "Seconds without an answer after which a host counts as failed, and the time that it has to start "
     "(default: 60)."},
    {"MPIEXEC_TIMEOUT", "Like --timeout, which takes precedence."},
    {"LANYARD_RANK, LANYARD_SIZE, LANYARD_LOCAL_RANK, LANYARD_LOCAL_SIZE",
     "Set for every rank, for scripts between mpirun and the program."},
    {"OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE, _NODE_RANK, PMI_RANK, PMI_SIZE, "
     "MPI_LOCALRANKID, MPI_LOCALNRANKS",
     "The same values under the names that Open MPI's and MPICH's launchers use, for scripts that read "
     "those."},
};

}  // namespace lanyard::launch
