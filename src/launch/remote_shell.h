// Makes the command line of the remote shell that starts an agent on another host, and an explanation for the
// user if no agent answers. These functions have no side effects.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launch/plan.h"

namespace lanyard::launch {

// The command line "PROGRAM [WORDS] HOST exec 'AGENT' --agent". Without --ssh, PROGRAM is ssh with options.
// One of them keeps ssh from asking questions, because no user could answer them.
std::vector<std::string> remote_shell_words(const Plan &plan, const std::string &host,
                                            const std::string &agent);
std::string quoted_for_shell(std::string_view word);

// How the start of an agent failed.
struct FailedStart {
    std::string host;
    std::string shell;     // the name of the remote shell that the user knows: "ssh"
    std::string agent;     // the path of the agent's program
    int status = 0;        // the status of the remote shell from waitpid
    bool running = false;  // the remote shell still runs, or was killed by this process
    std::string said;      // the end of the shell's output before the agent's first line, and its errors
};
// Returns one or two sentences about the reason, with what the user can do.
std::string explain(const FailedStart &start);

// True if the last line of `said`, which has no end yet, asks for a password, a passphrase or a "yes".
bool asks_for_secret(std::string_view said);

// The end of `text` as a quotation within a sentence: one line of printable characters, at most about 300;
// "" if the text is empty.
std::string last_words(std::string_view text);

}  // namespace lanyard::launch
