// Makes the command line that starts an agent, and explains a failed start. See remote_shell.h.
#include "launch/remote_shell.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <initializer_list>

#include "launch/wording.h"

namespace lanyard::launch {

namespace {

constexpr size_t longest_quotation = 300;

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(tolower(c)); });
    return out;
}

bool contains_any(const std::string &text, std::initializer_list<const char *> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](const char *word) { return text.find(word) != std::string::npos; });
}

std::string ending_of(const FailedStart &start) {
    if (start.running) return "does not answer";
    if (WIFSIGNALED(start.status)) return "was killed by " + signal_text(WTERMSIG(start.status));
    return fmt::format("ended with exit code {}", WEXITSTATUS(start.status));
}

}  // namespace

std::string quoted_for_shell(std::string_view word) {
    std::string out = "'";
    for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

std::vector<std::string> remote_shell_words(const Plan &plan, const std::string &host,
                                            const std::string &agent) {
    // -x: forward no display, because nothing needs one. -T: use no terminal, because it would change bytes.
    std::string shell = plan.remote_shell.empty() ? "ssh -x -T -o BatchMode=yes" : plan.remote_shell;
    std::vector<std::string> words;
    for (size_t at = 0; (at = shell.find_first_not_of(' ', at)) != std::string::npos;) {
        size_t end = std::min(shell.find(' ', at), shell.size());
        words.push_back(shell.substr(at, end - at));
        at = end;
    }
    for (const std::string &word :
         {host, std::string("exec"), quoted_for_shell(agent), std::string("--agent")})
        words.push_back(word);
    return words;
}

bool asks_for_secret(std::string_view said) {
    size_t newline = said.find_last_of("\r\n");
    std::string line = lower(newline == std::string_view::npos ? said : said.substr(newline + 1));
    return contains_any(line, {"password", "passphrase", "passcode", "(yes/no"}) &&
           contains_any(line, {":", "?"});
}

std::string last_words(std::string_view text) {
    std::string out;
    for (unsigned char c : text) {
        bool space = c <= ' ' || c == 127;
        if (space && (out.empty() || out.back() == ' ')) continue;
        out += space ? ' ' : c == '"' ? '\'' : static_cast<char>(c);
    }
    while (out.ends_with(' ')) out.pop_back();
    return out.size() > longest_quotation ? "..." + out.substr(out.size() - longest_quotation) : out;
}

std::string explain(const FailedStart &start) {
    std::string said = last_words(start.said), text = lower(said);
    const std::string &host = start.host, &shell = start.shell;
    std::string quotation = said.empty() ? "it said nothing" : fmt::format("it said \"{}\"", said);
    if (start.running && asks_for_secret(start.said))
        return fmt::format(
            "host {}: {} asks for what nobody can type here ({}); make a key that needs no question "
            "(ssh-keygen, then ssh-copy-id {}) and try \"{} {} true\" by hand",
            host, shell, quotation, host, shell, host);
    int code = !start.running && WIFEXITED(start.status) ? WEXITSTATUS(start.status) : 0;
    bool missing = code == 127 || contains_any(text, {start.agent.c_str()}) ||
                   (code != 255 && contains_any(text, {"not found"}));
    if (missing && code != 126)
        return fmt::format(
            "host {} has no {} ({}); install Lanyard there at the same place, or say where it is with "
            "--prefix",
            host, start.agent, quotation);
    if (code == 126)
        return fmt::format("host {}: {} cannot be executed there ({}); install Lanyard there anew", host,
                           start.agent, quotation);
    if (contains_any(text, {"permission denied", "authentication fail", "too many authentication",
                            "access denied", "login incorrect"}))
        return fmt::format(
            "host {} refuses the login ({} said \"{}\"); make a key that needs no password (ssh-keygen, then "
            "ssh-copy-id {}) and try \"{} {} true\" by hand",
            host, shell, said, host, shell, host);
    if (contains_any(text, {"host key verification failed", "host identification has changed"}))
        return fmt::format("host {} is not known to {} ({}); log in once by hand (ssh {}) and accept its key",
                           host, shell, quotation, host);
    if (contains_any(text, {"could not resolve", "name or service not known", "temporary failure in name",
                            "nodename nor servname"}))
        return fmt::format("host {} is not known by that name ({}); correct it in the list of hosts", host,
                           quotation);
    if (contains_any(text, {"connection refused", "no route to host", "timed out", "unreachable",
                            "connection reset", "connection closed"}))
        return fmt::format("host {} cannot be reached ({} said \"{}\"); check that it runs and lets {} in",
                           host, shell, said, shell);
    return fmt::format("host {}: Lanyard's agent did not start: {} {}, and {}; try \"{} {} true\" by hand",
                       host, shell, ending_of(start), quotation, shell, host);
}

}  // namespace lanyard::launch
