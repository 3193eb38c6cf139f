// Point-to-point messages of one runtime: matching and the protocols (short, eager, rendezvous). The only sink of the
// paths. Called by the API, by collectives and by communicator creation, always by the engine's owner.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "config/settings.h"
#include "engine/engine.h"
#include "p2p/transfer.h"
#include "path/path.h"

namespace lanyard {

class Messenger;
std::unique_ptr<Messenger> make_messenger(std::vector<Path *> paths, uint32_t own_peer, const Settings &settings);
