// PutProtocol is an example of a protocol that is built on p2p without any change to p2p, the paths or the
// engine. It puts bytes into memory that the peer has opened. The target of a put answers when the bytes are
// in place.
//
//   origin                               target
//     request (window, offset, bytes) ->   finds the place; names it
//                                     <-   go (id, from)
//     bulk to the id ----------------->    when all is here: forgets the id
//                                     <-   done
//
// `request` has its own kind of envelope and a handler for it. `go` and `done` contain the id of the put. A
// put is a Target (p2p), so the envelopes are passed to it by its id and need no handler. When a connection
// breaks, bulk is lost. After a new connection, the target therefore requests the missing bytes again.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "p2p/arrived.h"
#include "p2p/bulk_push.h"
#include "p2p/messenger.h"

namespace lanyard::conformance {

class PutProtocol final : public Handler {
public:
    explicit PutProtocol(Messenger &messenger);
    ~PutProtocol() { messenger_.dispatch().unbind(*this); }

    // Opens memory into which peers may put. The windows are numbered from 0 in the order of these
    // calls.
    void open(std::byte *memory, size_t bytes) { windows_.push_back({memory, bytes}); }
    // Starts a put. `data` must stay unchanged until `done` is called. The argument of `done` is true if the
    // bytes are in place. [owner]
    void put(uint32_t peer, uint32_t window, uint64_t offset, const std::byte *data, size_t bytes,
             std::function<void(bool)> done);
    size_t open_puts() const { return puts_.size() + landings_.size(); }
    uint64_t frames() const { return frames_; }  // number of bulk frames that have arrived here

    void envelope(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) override;

private:
    static constexpr EnvelopeKind kind_request{56}, kind_go{57}, kind_done{58};

    struct Window {
        std::byte *memory;
        size_t bytes;
    };
    struct Request {
        uint32_t window, bytes;
        uint64_t offset;
    };
    struct Go {
        uint64_t id, from;
    };
    // The origin's side of a put.
    class Put final : public Target, private BulkPush::User {
    public:
        Put(PutProtocol &protocol, uint32_t peer, const std::byte *data, size_t bytes,
            std::function<void(bool)> done);
        void answer(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) override;
        void sent() override { push_.sent(true); }
        void renewed(uint32_t peer) override {
            if (peer == peer_) push_.pause();
        }
        void lost(uint32_t peer) override {
            if (peer == peer_) end(false);
        }

    private:
        void pushed() override {}
        void end(bool in_place);

        PutProtocol &protocol_;
        const uint32_t peer_;
        const Buffer data_;
        std::function<void(bool)> done_;
        BulkPush push_;
    };
    // The target's side of a put.
    class Landing final : public Target {
    public:
        Landing(PutProtocol &protocol, uint32_t peer, uint64_t put, std::byte *memory, size_t bytes);
        void ask();
        std::byte *place(uint32_t peer, uint64_t offset, size_t size) override;
        void bulk(uint32_t peer, uint64_t offset, const std::byte *payload, size_t size) override;
        void renewed(uint32_t peer) override {
            if (peer == peer_) ask();
        }
        void lost(uint32_t peer) override {
            if (peer == peer_) end();
        }
        void end_if_all();

    private:
        bool takes(uint32_t peer, uint64_t offset, size_t size) const {
            return peer == peer_ && size <= bytes_ && offset <= bytes_ - size;
        }
        void end();

        PutProtocol &protocol_;
        const uint32_t peer_;
        const uint64_t put_;
        std::byte *const memory_;
        const size_t bytes_;
        Arrived arrived_;
    };

    Messenger &messenger_;
    std::vector<Window> windows_;
    std::vector<std::unique_ptr<Put>> puts_;
    std::vector<std::unique_ptr<Landing>> landings_;
    uint64_t frames_ = 0;
};

}  // namespace lanyard::conformance
