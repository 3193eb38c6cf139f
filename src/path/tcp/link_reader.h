// Receives for links: lets the connection extract frames, counts envelopes, processes acknowledgements, and
// passes envelopes and bulk to p2p.
// Thread rule: the owner of the engine, inside poll().
// Errors: a frame that is damaged, or that the rules do not permit, ends the connection (Links::fail). Such a
// frame is counted and logged, and its contents arrive again on the next connection.
// Tested by: tests/unit/path/tcp/links_test.cc, tests/sim/answers_test.cc.
#pragma once

#include "path/tcp/link_writer.h"

namespace lanyard {

class LinkReader {
public:
    LinkReader(Links &links, LinkWriter &writer) : links_(links), writer_(writer) {}

    // Reads from the link's connection, at most `budget` frames. Returns the work done. Reads nothing while
    // take_rest() has something left to process.
    int read_in(Link &link, int budget);
    // Processes what the last reading left in the buffer, at most `budget` frames. Returns the work done.
    int take_rest(int budget);

private:
    class Frames;

    bool begin(Link &link, const FrameHead &head, const std::byte *payload, size_t received,
               Assembly &assembly);
    bool take_frame(Link &link, const FrameHead &head, const std::byte *payload);
    bool take_envelope(Link &link, const FrameHeader &header, const Envelope &carried,
                       const std::byte *payload);
    void take_idle_close(Link &link, const FrameHeader &header);
    void damaged(Link &link);
    bool garbled(Link &link, const char *what);
    void finish(Link &link);

    Links &links_;
    LinkWriter &writer_;
};

}  // namespace lanyard
