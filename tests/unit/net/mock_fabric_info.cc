// See mock_fabric_info.h.
#include "unit/net/mock_fabric_info.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstdlib>
#include <cstring>

namespace lanyard::mock_fabric {

namespace {

// An fi_info and its parts as one block, which the functions of this library return and take.
struct Info {
    fi_info info{};
    fi_tx_attr transmit{};
    fi_rx_attr receive{};
    fi_ep_attr endpoint{};
    fi_domain_attr domain{};
    fi_fabric_attr fabric{};
};

fi_info *provider(const char *name, fi_ep_type type, fi_info *next) {
    const Behaviour &now = behaviour();
    fi_info *info = duplicate_info(nullptr);
    info->next = next;
    info->fabric_attr->prov_name = strdup(name);
    info->ep_attr->type = type;
    if (type != FI_EP_DGRAM) return info;
    info->caps = FI_MSG | FI_SEND | FI_RECV;
    info->mode = FI_MSG_PREFIX | FI_CONTEXT2;
    info->addr_format = FI_ADDR_IB_UD;
    info->tx_attr->size = now.transmits;
    info->rx_attr->size = now.receives;
    info->ep_attr->max_msg_size = now.largest;
    info->ep_attr->msg_prefix_size = prefix;
    info->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    return info;
}

}  // namespace

fi_info *duplicate_info(const fi_info *info) {
    auto *copy = new Info;
    if (info) {
        copy->info = *info;
        copy->transmit = *info->tx_attr;
        copy->receive = *info->rx_attr;
        copy->endpoint = *info->ep_attr;
        copy->domain = *info->domain_attr;
        copy->fabric = *info->fabric_attr;
        if (info->fabric_attr->prov_name) copy->fabric.prov_name = strdup(info->fabric_attr->prov_name);
    }
    copy->info.next = nullptr;
    copy->info.tx_attr = &copy->transmit;
    copy->info.rx_attr = &copy->receive;
    copy->info.ep_attr = &copy->endpoint;
    copy->info.domain_attr = &copy->domain;
    copy->info.fabric_attr = &copy->fabric;
    return &copy->info;
}

void free_infos(fi_info *list) {
    while (list) {
        fi_info *next = list->next;
        std::free(list->fabric_attr->prov_name);
        delete reinterpret_cast<Info *>(list);
        list = next;
    }
}

int get_info(uint32_t, const char *, const char *, uint64_t flags, const fi_info *hints, fi_info **list) {
    *list = nullptr;
    if (flags & FI_PROV_ATTR_ONLY) {
        for (const char *name : {"mock", "streams", "absent"}) *list = provider(name, FI_EP_UNSPEC, *list);
        return 0;
    }
    auto wanted = [&](const char *name, fi_ep_type type) {
        const char *asked = hints->fabric_attr->prov_name;
        return (!asked || std::strcmp(asked, name) == 0) &&
               (hints->ep_attr->type == FI_EP_UNSPEC || hints->ep_attr->type == type);
    };
    constexpr uint64_t modes = FI_MSG_PREFIX | FI_CONTEXT2;
    bool able = (hints->mode & modes) == modes && (hints->domain_attr->mr_mode & FI_MR_LOCAL);
    if (able && wanted("mock", FI_EP_DGRAM)) *list = provider("mock", FI_EP_DGRAM, *list);
    if (wanted("streams", FI_EP_MSG)) *list = provider("streams", FI_EP_MSG, *list);
    return *list ? 0 : -FI_ENODATA;
}

}  // namespace lanyard::mock_fabric
