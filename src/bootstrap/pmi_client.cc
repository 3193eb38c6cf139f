// See pmi_client.h.
#include "bootstrap/pmi_client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "base/bytes.h"
#include "bootstrap/pmi_line.h"

namespace lanyard {

namespace {

// True if the descriptor is a regular file without a name, as the segment's file is. If a wrapper has closed
// the segment's descriptor, its number may now belong to a file of the program.
bool is_nameless_file(int descriptor) {
    struct stat about;
    return descriptor >= 0 && fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_nlink == 0;
}

constexpr size_t longest_line = 64 * KiB;
constexpr unsigned longest_farewell_s = 3;

class Pmi1 final : public Bootstrap {
public:
    Pmi1(int fd, const Seat *seat)
        : fd_(fd), ours_(seat != nullptr), segment_fd_(seat ? seat->segment_fd : -1) {}
    ~Pmi1() override { close(fd_); }

    Error open(int rank, int size);
    Error put(const std::string &key, const std::string &value) override;
    Error get(const std::string &key, std::string &value) override;
    Error enter_barrier() override;
    int barrier_descriptor() const override { return fd_; }
    Error leave_barrier() override;
    void abort(int code, std::string_view message, bool asked) override;
    Error finalize() override;
    bool takes_back() const override { return ours_; }
    Error rejoin() override;

private:
    Error join();
    Error send_line(const std::string &line);
    Error receive_line(std::string &line);
    Error ask(const std::string &request, std::string_view expected_command, std::string &answer);
    Error receive_answer(const std::string &request, std::string_view expected_command, std::string &answer);
    std::string barrier_request() const {
        return ours_ && *call_ ? std::string("cmd=barrier_in call=") + call_ : "cmd=barrier_in";
    }
    Error ask_number(const char *request, const char *answer_command, const char *name, int &number);
    Error learn_limits();
    Error learn_places();
    Error lost(const char *what) const;
    void await_end_if_closed() const;
    bool closed_here() const { return fcntl(fd_, F_GETFD) < 0; }

    int fd_;
    std::mutex asked_;  // held from a request until its answer has arrived
    bool ours_;         // the launcher is this library's mpirun, which understands slightly more than PMI-1
    int segment_fd_;
    std::string unread_;  // bytes received after the last line that was returned
    std::string kvsname_;
    size_t longest_key_ = 64;
    size_t longest_value_ = 1024;
};

bool plain_word(std::string_view word) {
    return !word.empty() &&
           std::all_of(word.begin(), word.end(), [](unsigned char c) { return c > ' ' && c < 127; });
}

Error Pmi1::lost(const char *what) const {
    if (closed_here())
        return Error(ErrorClass::other,
                     "rank " + std::to_string(identity_.rank) +
                         " has closed its connection to the launcher, descriptor " + std::to_string(fd_) +
                         ", itself; let the program close only descriptors that it has opened");
    return Error(ErrorClass::other,
                 "rank " + std::to_string(identity_.rank) + " lost its launcher (" + what +
                     " on descriptor PMI_FD=" + std::to_string(fd_) +
                     "): the launcher has ended or closed the connection; start the job again");
}

// If the program has closed its connection to this library's mpirun, waits a few seconds. mpirun notices the
// closed connection, reports it, and ends this process if it still runs. Users who no longer see the output
// of this process may still see that of mpirun.
void Pmi1::await_end_if_closed() const {
    if (ours_ && closed_here()) sleep(longest_farewell_s);
}

Error Pmi1::send_line(const std::string &line) {
    for (size_t sent = 0; sent < line.size();) {
        ssize_t count = send(fd_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return lost(count < 0 ? strerror(errno) : "nothing could be written");
        sent += static_cast<size_t>(count);
    }
    return {};
}

Error Pmi1::receive_line(std::string &line) {
    for (;;) {
        size_t end = unread_.find('\n');
        if (end != std::string::npos) {
            line = unread_.substr(0, end);
            unread_.erase(0, end + 1);
            return {};
        }
        if (unread_.size() > longest_line) return lost("a line longer than 64 KiB");
        char chunk[2048];
        ssize_t count = read(fd_, chunk, sizeof chunk);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return lost(strerror(errno));
        if (count == 0) return lost("end of file");
        unread_.append(chunk, static_cast<size_t>(count));
    }
}

// Sends one request and reads the answer, which must be the expected command with rc=0 or without rc.
Error Pmi1::ask(const std::string &request, std::string_view expected_command, std::string &answer) {
    std::lock_guard guard(asked_);
    if (Error error = send_line(request + "\n")) return error;
    return receive_answer(request, expected_command, answer);
}

Error Pmi1::receive_answer(const std::string &request, std::string_view expected_command,
                           std::string &answer) {
    if (Error error = receive_line(answer)) return error;
    PmiLine line(answer);
    if (line.command() != expected_command)
        return Error(ErrorClass::other,
                     "the launcher answered \"" + answer + "\" to the PMI-1 request \"" + request +
                         "\" where cmd=" + std::string(expected_command) +
                         " was expected; use a launcher that offers PMI-1, such as mpirun");
    if (line.number("rc", 0) != 0)
        return Error(ErrorClass::other, "the launcher refused the PMI-1 request \"" + request +
                                            "\": " + std::string(line.value("msg", answer)));
    return {};
}

Error Pmi1::ask_number(const char *request, const char *answer_command, const char *name, int &number) {
    std::string answer;
    if (Error error = ask("cmd=" + std::string(request), answer_command, answer)) return error;
    number = PmiLine(answer).number(name, number);
    return {};
}

Error Pmi1::learn_limits() {
    std::string answer;
    if (Error error = ask("cmd=get_maxes", "maxes", answer)) return error;
    longest_key_ = static_cast<size_t>(std::max(8, PmiLine(answer).number("keylen_max", 64)));
    longest_value_ = static_cast<size_t>(std::max(8, PmiLine(answer).number("vallen_max", 1024)));
    return {};
}

// Finds out which ranks share this node: from the launcher's mapping if there is one, otherwise from the
// environment, if it states that all ranks are on this node.
Error Pmi1::learn_places() {
    std::string mapping;
    if (Error error = get("PMI_process_mapping", mapping)) {
        if (error.code() != static_cast<int>(ErrorClass::name)) return error;
        error.discard();  // the launcher has no mapping
    }
    int rank = identity_.rank;
    int size = identity_.size;
    auto &nodes = identity_.node_of_rank;
    if (!parse_process_mapping(mapping, size, nodes)) {
        const char *local_size = started_with("MPI_LOCALNRANKS");
        if (!local_size || atoi(local_size) != size)
            return Error(ErrorClass::other,
                         "the launcher does not say which ranks share a node (PMI_process_mapping is \"" +
                             mapping + "\"); use a launcher that does, such as this library's mpirun");
        nodes.assign(static_cast<size_t>(size), 0);
    }
    int mine = nodes[static_cast<size_t>(rank)];
    identity_.local_rank = static_cast<int>(std::count(nodes.begin(), nodes.begin() + rank, mine));
    identity_.local_size = static_cast<int>(std::count(nodes.begin(), nodes.end(), mine));
    return {};
}

Error Pmi1::join() {
    std::string answer;
    return ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init", answer);
}

Error Pmi1::rejoin() { return ours_ ? join() : Error(); }

Error Pmi1::open(int rank, int size) {
    identity_.rank = rank;
    identity_.size = size;
    std::string answer;
    if (Error error = join()) return error;
    if (Error error = learn_limits()) return error;
    if (Error error = ask("cmd=get_appnum", "appnum", answer)) return error;
    identity_.appnum = PmiLine(answer).number("appnum", identity_.appnum);
    // Only this library's mpirun adds the word maxprocs to this answer.
    identity_.maxprocs = PmiLine(answer).number("maxprocs", identity_.maxprocs);
    if (Error error = ask_number("get_universe_size", "universe_size", "size", identity_.universe_size))
        return error;
    if (Error error = ask("cmd=get_my_kvsname", "my_kvsname", answer)) return error;
    kvsname_ = PmiLine(answer).value("kvsname");
    identity_.job = kvsname_;
    if (Error error = learn_places()) return error;

    identity_.launcher = ours_ ? "mpirun" : "PMI-1";
    if (is_nameless_file(segment_fd_) && fcntl(segment_fd_, F_SETFD, FD_CLOEXEC) == 0)
        identity_.segment_fd = segment_fd_;
    return {};
}

Error Pmi1::put(const std::string &key, const std::string &value) {
    // The limits include the terminating zero of a C string.
    if (!plain_word(key) || key.size() >= longest_key_)
        return Error(ErrorClass::arg, "the key \"" + key + "\" cannot be published: it must be 1 to " +
                                          std::to_string(longest_key_ - 1) +
                                          " printable characters without spaces");
    if (!plain_word(value) || value.size() >= longest_value_)
        return Error(ErrorClass::arg, "the value of " + std::to_string(value.size()) + " bytes for the key " +
                                          key + " cannot be published: the launcher takes 1 to " +
                                          std::to_string(longest_value_ - 1) +
                                          " printable characters without spaces; publish it in parts");
    std::string answer;
    return ask("cmd=put kvsname=" + kvsname_ + " key=" + key + " value=" + value, "put_result", answer);
}

Error Pmi1::get(const std::string &key, std::string &value) {
    std::unique_lock guard(asked_, std::try_to_lock);
    if (!guard)
        return Error(ErrorClass::pending,
                     "the launcher cannot be asked for \"" + key + "\" while it is waited for");
    std::string answer;
    std::string request = "cmd=get kvsname=" + kvsname_ + " key=" + key + "\n";
    if (Error error = send_line(request)) return error;
    if (Error error = receive_line(answer)) return error;
    PmiLine line(answer);
    if (line.command() != "get_result" || line.number("rc", 0) != 0)
        return Error(ErrorClass::name, "no rank of job " + kvsname_ + " has published \"" + key +
                                           "\" (the launcher says: " + answer + ")");
    value = line.value("value");
    return {};
}

Error Pmi1::enter_barrier() {
    asked_.lock();
    Error error = send_line(barrier_request() + "\n");
    if (error) asked_.unlock();
    return error;
}

Error Pmi1::leave_barrier() {
    std::lock_guard guard(asked_, std::adopt_lock);
    std::string answer;
    return receive_answer(barrier_request(), "barrier_out", answer);
}

void Pmi1::abort(int code, std::string_view message, bool asked) {
    std::string text(message);
    if (!text.empty()) text += '\n';
    [[maybe_unused]] ssize_t written = write(2, text.data(), text.size());
    await_end_if_closed();
    // This library's mpirun distinguishes an error from a call of MPI_Abort by the word for=error. Other
    // launchers do not get this word, because they need not know it.
    send_line("cmd=abort exitcode=" + std::to_string(code) + (ours_ && !asked ? " for=error\n" : "\n"))
        .discard();
}

Error Pmi1::finalize() {
    std::string answer;
    Error error = ask("cmd=finalize", "finalize_ack", answer);
    if (error) await_end_if_closed();
    return error;
}

}  // namespace

std::unique_ptr<Bootstrap> connect_pmi1(int fd, int rank, int size, Error &error, const Seat *seat) {
    auto client = std::make_unique<Pmi1>(fd, seat);
    error = client->open(rank, size);
    if (error) return nullptr;
    return client;
}

}  // namespace lanyard
