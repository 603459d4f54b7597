// SPDX-License-Identifier: Apache-2.0
// Peers of peers.cpp that Debian does not package: quill (12) and MCAP (2). -DSPOTTER_PEERS=<folder> gives their
// sources, as repositories in <folder>/quill and <folder>/mcap. They use their default options, with the exceptions
// noted.
#pragma once

#include "peer_work.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#if defined(SPOTTER_BENCH_QUILL)
#include <quill/Backend.h>
#include <quill/Frontend.h>
#include <quill/LogMacros.h>
#include <quill/Logger.h>
#include <quill/sinks/FileSink.h>

// Its per-thread queue starts with 128 KiB and doubles when it is full.
struct quill_async {
    static constexpr char const* name = "quill, asynchronous";
    peer_work const& todo;
    std::string const path{todo.folder + "/quill"};
    quill::Logger* log = nullptr;
    explicit quill_async(peer_work const& it) : todo{it} {
        quill::BackendOptions how;
        how.check_printable_char = {};  // bytes are written as they are
        quill::Backend::start(how);
        log = quill::Frontend::create_or_get_logger("bench " + path,
                                                    quill::Frontend::create_or_get_sink<quill::FileSink>(path));
    }
    ~quill_async() { quill::Frontend::remove_logger_blocking(log); }
    void put() {
        if (todo.values.size() == 1) {
            LOG_INFO(log, "loss {}", todo.values[0]);
        } else {
            LOG_INFO(log, "{}", std::string_view(todo.text().data(), todo.text().size()));
        }
    }
    void rest() {
        log->flush_log();
        std::filesystem::resize_file(path, 0);
    }
};
#define SPOTTER_BENCH_WITH_QUILL , quill_async
#else
#define SPOTTER_BENCH_WITH_QUILL
#endif

#if defined(SPOTTER_BENCH_MCAP)
#define MCAP_IMPLEMENTATION
#define MCAP_COMPRESSION_NO_LZ4
#include <mcap/writer.hpp>

// Chunks of 768 KiB, compressed with zstd on the calling thread.
struct mcap_file {
    static constexpr char const* name = "MCAP, direct";
    peer_work const& todo;
    mcap::McapWriter writer;
    mcap::Message message;
    explicit mcap_file(peer_work const& it) : todo{it} {
        if (!writer.open(todo.folder + "/mcap", mcap::McapWriterOptions{""}).ok()) {
            std::puts("  no file for MCAP: its row is nothing");
        }
        mcap::Schema schema{"values", "", ""};
        writer.addSchema(schema);
        mcap::Channel channel{"values", "", schema.id};
        writer.addChannel(channel);
        message.channelId = channel.id;
        message.data = reinterpret_cast<std::byte const*>(todo.values.data());
        message.dataSize = todo.bytes();
    }
    ~mcap_file() { writer.close(); }
    void put() {
        message.logTime = message.publishTime = ++message.sequence;
        (void)writer.write(message);
    }
    void rest() { writer.closeLastChunk(); }
};
#define SPOTTER_BENCH_WITH_MCAP , mcap_file
#else
#define SPOTTER_BENCH_WITH_MCAP
#endif
