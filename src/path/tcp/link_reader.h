// What a link receives: has the connection extract frames, counts envelopes, processes acknowledgements, and
// passes the rest to p2p.
// Thread rule: the owner of the engine.
#pragma once

#include "path/tcp/link_writer.h"

namespace lanyard {

class LinkReader {
public:
    LinkReader(Links &links, LinkWriter &writer) : links_(links), writer_(writer) {}

    // Reads from the link's connection, at most `budget` frames. Returns the work done.
    int read_in(Link &link, int budget);
    // Processes what the last reading left in the buffer.
    int take_rest(int budget);

private:
    class Frames;

    bool begin(Link &link, const FrameHead &head, const std::byte *payload, size_t received,
               Assembly &assembly);
    bool take_frame(Link &link, const FrameHead &head, const std::byte *payload);
    bool take_envelope(Link &link, const FrameHeader &header, const Envelope &carried,
                       const std::byte *payload);
    void damaged(Link &link);
    bool garbled(Link &link, const char *what);
    void finish(Link &link);

    Links &links_;
    LinkWriter &writer_;
};

}  // namespace lanyard
