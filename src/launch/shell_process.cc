// Starts and ends the process of a remote shell. See shell_process.h.
#include "launch/shell_process.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

namespace lanyard::launch {

namespace {

constexpr size_t most_said = 4096;

struct Pipes {
    int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};

    bool open() {
        return pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0;
    }
    void close_all() {
        for (int *ends : {in, out, err})
            for (int i : {0, 1})
                if (ends[i] >= 0) close(ends[i]);
    }
};

// Runs in the child and executes the shell. If that fails, writes the reason to the pipe for standard error.
[[noreturn]] void become_shell(const char *path, char **words, char **environment, const Pipes &pipes,
                               const InheritedState &inherited, pid_t parent) {
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent) _exit(127);
    dup2(pipes.in[0], 0);
    dup2(pipes.out[1], 1);
    dup2(pipes.err[1], 2);
    setrlimit(RLIMIT_NOFILE, &inherited.descriptors);
    sigprocmask(SIG_SETMASK, &inherited.signals, nullptr);
    execve(path, words, environment);
    dprintf(2, "%s: %s\n", path, strerrordesc_np(errno));
    _exit(126);
}

}  // namespace

ShellProcess::~ShellProcess() {
    kill();
    if (pid_ >= 0) {
        waitpid(pid_, nullptr, 0);
        loop_.remove(handle_);
        close(handle_);
    }
    if (err_ >= 0) loop_.remove(err_);
    for (int fd : {in_, out_, err_})
        if (fd >= 0) close(fd);
}

std::string ShellProcess::start(const std::string &path, const std::vector<std::string> &words,
                                char **environment, const InheritedState &inherited,
                                std::function<void()> on_end) {
    std::vector<char *> pointers;
    for (const std::string &word : words) pointers.push_back(const_cast<char *>(word.c_str()));
    pointers.push_back(nullptr);
    Pipes pipes;
    pid_t own = getpid();
    pid_ = pipes.open() ? fork() : -1;
    if (pid_ == 0) become_shell(path.c_str(), pointers.data(), environment, pipes, inherited, own);
    handle_ = pid_ > 0 ? static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)) : -1;
    if (handle_ < 0) {
        std::string wrong =
            fmt::format("the remote shell {} cannot be started: {}", path, system_text(errno));
        pipes.close_all();
        kill();
        return wrong;
    }
    fcntl(handle_, F_SETFD, FD_CLOEXEC);
    close(pipes.in[0]);
    close(pipes.out[1]);
    close(pipes.err[1]);
    in_ = pipes.in[1];
    out_ = pipes.out[0];
    err_ = pipes.err[0];
    fcntl(err_, F_SETFL, O_NONBLOCK);
    on_end_ = std::move(on_end);
    loop_.add(err_, EPOLLIN, [this](uint32_t) { read_errors(); });
    loop_.add(handle_, EPOLLIN, [this](uint32_t) { reap(); });
    return "";
}

void ShellProcess::kill() {
    if (pid_ > 0) {
        ::kill(-pid_, SIGKILL);
        ::kill(pid_, SIGKILL);  // if the process has not yet created its session and process group
    }
}

void ShellProcess::read_errors() {
    char chunk[4096];
    ssize_t count;
    while ((count = read(err_, chunk, sizeof chunk)) > 0) {
        said_.append(chunk, static_cast<size_t>(count));
        if (said_.size() > most_said) said_.erase(0, said_.size() - most_said);
    }
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    loop_.remove(err_);
    close(err_);
    err_ = -1;
}

const std::string &ShellProcess::said() {
    if (err_ >= 0) read_errors();
    return said_;
}

void ShellProcess::reap() {
    loop_.remove(handle_);
    close(handle_);
    handle_ = -1;
    // The process group of the shell may contain processes that the shell has started. They are no longer
    // needed.
    ::kill(-pid_, SIGKILL);
    if (waitpid(pid_, &status_, 0) < 0) status_ = 0;
    pid_ = -1;
    on_end_();
}

}  // namespace lanyard::launch
