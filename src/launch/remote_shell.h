// How an agent is started on another host: the words given to the remote shell, and what it means when none appears.
// Pure functions but for remote_shell_words, which looks for the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launch/plan.h"

namespace lanyard::launch {

// "PROGRAM [WORDS] HOST exec 'AGENT' --agent". Without --ssh it is ssh, told never to ask for anything: nobody could answer.
std::vector<std::string> remote_shell_words(const Plan &plan, const std::string &host, const std::string &agent);
std::string quoted_for_shell(std::string_view word);

// How the start of an agent failed.
struct FailedStart {
    std::string host;
    std::string shell;     // as the user knows it: "ssh"
    std::string agent;     // path
    int status = 0;        // of the remote shell, as from waitpid
    bool running = false;  // it goes on, or was ended from here
    std::string said;      // what came before the agent's first word, and on standard error; the last of it
};
// In one or two sentences, with what to do.
std::string explain(const FailedStart &start);

// True when the last line, not ended, asks for a password, a passphrase or a yes.
bool asks_for_secret(std::string_view said);

// The last lines of `text` as one quotation for a sentence: printable, at most some 300 characters; "" when there is none.
std::string last_words(std::string_view text);

}  // namespace lanyard::launch
