// SPDX-License-Identifier: Apache-2.0
// What the stand-in for NVIDIA's management library returns: its symbol `fake_nvml_state` is the instance.
#pragma once

struct fake_nvml {
    struct device {
        unsigned busy = 0;  // percent
        unsigned long long total = 100, used = 25, reasons = 0;
        int code = 0;      // the result of each call about the device; 15: lost
        int hidden = 0;    // the result of the call for its handle
        int no_power = 0;  // the result of the call about its power
    };
    int init = 0, counting = 0;
    unsigned count = 1;
    device all[64]{};
    int open = 0;  // opened minus closed
    int pcie_asked = 0;
};

extern "C" fake_nvml* fake_nvml_state();
