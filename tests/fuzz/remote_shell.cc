// Tests the explanation for the case that no agent answers. It quotes what the remote shell and the login
// have printed. Whatever these bytes are, the explanation must be a sentence that people can read.
// Input: one byte for the shell's exit code, one for whether it still runs, then what it has printed.
#include "launch/remote_shell.h"

#include "fuzz/fuzz.h"

namespace lanyard::launch {
namespace {

using fuzz::must;

void one_input(fuzz::Input input) {
    FailedStart start{"host", "ssh", "/opt/lanyard/bin/mpirun", 0, false, ""};
    start.status = static_cast<int>(input.number(1)) << 8;
    start.running = input.number(1) & 1;
    start.said = input.rest();
    std::string quoted = last_words(start.said);
    must(quoted.size() <= 303, "a quotation is short");
    if (!quoted.empty()) fuzz::must_be_sentence(quoted);
    std::string sentence = explain(start);
    fuzz::must_be_sentence(sentence);
    must(sentence.find("host host") == 0, "the host is named first");
    asks_for_secret(start.said);
    // The same bytes are tried as the words of --ssh, and as one word that is quoted for a shell.
    Plan plan;
    plan.remote_shell = start.said;
    must(remote_shell_words(plan, "host", start.agent).size() >= 4, "there are a host and a command");
    std::string word = quoted_for_shell(start.said);
    must(word.size() >= 2 && word.front() == '\'' && word.back() == '\'', "a word for the shell is quoted");
}

}  // namespace
}  // namespace lanyard::launch

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lanyard::launch::one_input({data, size});
    return 0;
}
