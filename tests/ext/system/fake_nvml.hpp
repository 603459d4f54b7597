// SPDX-License-Identifier: Apache-2.0
// What the stand-in for NVIDIA's management library says; `fake_nvml_state` of that library is it.
#pragma once

struct fake_nvml {
    struct device {
        unsigned busy = 0;  // percent
        unsigned long long total = 100, used = 25, reasons = 0;
        int code = 0;      // of each call about it; 15: it is lost
        int hidden = 0;    // of the call that gives its handle
        int no_power = 0;  // of the call about its power
    };
    int init = 0, counting = 0;
    unsigned count = 1;
    device all[64]{};
    int open = 0;  // times it was opened and not closed
    int pcie_asked = 0;
};

extern "C" fake_nvml* fake_nvml_state();
