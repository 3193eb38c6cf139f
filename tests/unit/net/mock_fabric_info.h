// The part of mock_fabric.h that states which providers exist and what they demand.
#pragma once

#include "unit/net/mock_fabric.h"

namespace lanyard::mock_fabric {

inline constexpr size_t prefix = 40;  // bytes before each packet

const Behaviour &behaviour();

int get_info(uint32_t version, const char *node, const char *service, uint64_t flags, const fi_info *hints,
             fi_info **list);
fi_info *duplicate_info(const fi_info *info);
void free_infos(fi_info *list);

}  // namespace lanyard::mock_fabric
