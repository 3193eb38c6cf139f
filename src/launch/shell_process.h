// The process of a remote shell. It has a session of its own, no terminal on which to ask questions, and
// pipes for its standard streams. Driven by the loop; single-threaded. Invariant: it does not outlive this
// process. The kernel then kills it, and processes that it has started reach the end of their standard input.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "launch/guard.h"
#include "launch/loop.h"

namespace lanyard::launch {

class ShellProcess {
public:
    explicit ShellProcess(Loop &loop) : loop_(loop) {}
    ~ShellProcess();
    ShellProcess(const ShellProcess &) = delete;
    ShellProcess &operator=(const ShellProcess &) = delete;

    // `path` is the file of words[0]. `on_end` is called once, when the process has ended. Returns a sentence
    // that says what went wrong, or "".
    std::string start(const std::string &path, const std::vector<std::string> &words, char **environment,
                      const InheritedState &inherited, std::function<void()> on_end);
    // The caller must close both descriptors.
    int take_in() { return std::exchange(in_, -1); }
    int take_out() { return std::exchange(out_, -1); }
    void kill();
    bool ended() const { return pid_ < 0; }
    int status() const { return status_; }
    // The last part of what it has written to standard error.
    const std::string &said();

private:
    void read_errors();
    void reap();

    Loop &loop_;
    pid_t pid_ = -1;
    int handle_ = -1;  // readable when the process has ended
    int in_ = -1, out_ = -1, err_ = -1;
    int status_ = 0;
    std::string said_;
    std::function<void()> on_end_;
};

}  // namespace lanyard::launch
