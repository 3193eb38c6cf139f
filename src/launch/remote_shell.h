// How an agent is started on another host: the words passed to the remote shell, and the explanation if no
// agent answers. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launch/plan.h"

namespace lanyard::launch {

// "PROGRAM [WORDS] HOST exec 'AGENT' --agent". Without --ssh, the program is ssh with the option never to ask
// questions, because there is nobody to answer.
std::vector<std::string> remote_shell_words(const Plan &plan, const std::string &host,
                                            const std::string &agent);
std::string quoted_for_shell(std::string_view word);

// How the start of an agent failed.
struct FailedStart {
    std::string host;
    std::string shell;     // as the user knows it: "ssh"
    std::string agent;     // path
    int status = 0;        // of the remote shell, as from waitpid
    bool running = false;  // it still runs, or was killed from here
    std::string said;      // the end of what arrived before the agent's first line, and on standard error
};
// Returns one or two sentences, with what to do.
std::string explain(const FailedStart &start);

// True if the last line, which is unfinished, asks for a password, a passphrase or a yes.
bool asks_for_secret(std::string_view said);

// The last lines of `text` as one quotation for a sentence: printable, at most about 300 characters; "" if
// there are none.
std::string last_words(std::string_view text);

}  // namespace lanyard::launch
