// Tests the client side of PMI-1. Whatever a launcher answers, a rank must join its job, or get a sentence
// that says why it cannot. A rank must not wait forever: when the input ends, the launcher closes the
// connection.
// Input: what the launcher answers, line by line.
#include "bootstrap/pmi_client.h"

#include <sys/socket.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

namespace lanyard {
namespace {

using fuzz::must;

// The sentence may quote the launcher, which may send anything.
void end(Error error) {
    if (error) must(!error.take().sentence.empty(), "there is a sentence");
}

void join(int fd, int rank, int size) {
    Error error;
    std::unique_ptr<Bootstrap> job = connect_pmi1(fd, rank, size, error);
    must(!job == static_cast<bool>(error), "either a job or an error");
    end(error);
    if (!job) return;
    const Bootstrap::Identity &identity = job->identity();
    must(identity.node_of_rank.size() == static_cast<size_t>(size), "every rank has a node");
    must(identity.local_rank >= 0 && identity.local_rank < identity.local_size && identity.local_size <= size,
         "the place on the node is one");
    std::string value;
    end(job->put("key", "value"));
    end(job->get("key", value));
    end(job->barrier());
    end(job->finalize());
}

}  // namespace
}  // namespace lanyard

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 0;
    if (send(ends[1], data, size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && size > 0) size = 0;
    shutdown(ends[1], SHUT_WR);
    int ranks = 1 + static_cast<int>(size % 9);
    lanyard::join(ends[0], ranks / 2, ranks);
    close(ends[1]);
    return 0;
}
