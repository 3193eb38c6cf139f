// A ShellProcess is the process of a remote shell. It has a session of its own, no terminal on which it could
// ask questions, and pipes as its standard streams. Driven by the loop; single-threaded. Invariant: the shell
// does not outlive this process. If this process dies, the kernel kills the shell, and processes that the
// shell has started reach the end of their standard input.
// Tested by: tests/launch/test_hosts_endings.py.
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

    // Starts the shell. `path` is the file of words[0]. `on_end` is called once, when the process has ended.
    // Returns a sentence about what went wrong, or "".
    std::string start(const std::string &path, const std::vector<std::string> &words, char **environment,
                      const InheritedState &inherited, std::function<void()> on_end);
    // These two functions hand over a descriptor, which the caller must close.
    int take_in() { return std::exchange(in_, -1); }
    int take_out() { return std::exchange(out_, -1); }
    void kill();
    bool ended() const { return pid_ < 0; }
    int status() const { return status_; }
    // The end of what the process has written to standard error.
    const std::string &said();

private:
    void read_errors();
    void reap();

    Loop &loop_;
    pid_t pid_ = -1;
    int handle_ = -1;  // a descriptor that becomes readable when the process has ended
    int in_ = -1, out_ = -1, err_ = -1;
    int status_ = 0;
    std::string said_;
    std::function<void()> on_end_;
};

}  // namespace lanyard::launch
