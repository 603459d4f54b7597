// SPDX-License-Identifier: Apache-2.0
// For tests of object storage: a store that sends whatever bytes a test gives it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

namespace spotter_test {

// Listens on its own port while it lives. Connections are served one at a time: one request, one answer, closed.
class hostile_store {
public:
    struct question {
        std::string method{}, path{}, query{}, head{}, body{};
        int socket = -1;
        std::atomic<bool> const* over = nullptr;
        std::atomic<std::uint64_t>* sent = nullptr;

        // False if the client has gone.
        bool say(std::string_view text) const {
            while (!text.empty() && !*over) {
                ssize_t const some = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
                if (some <= 0) { return false; }
                *sent += static_cast<std::uint64_t>(some);
                text.remove_prefix(static_cast<std::size_t>(some));
            }
            return !*over;
        }
        void answer(std::string_view text, std::string const& status = "200 OK",
                    std::string const& headers = {}) const {
            (void)say("HTTP/1.1 " + status + "\r\nConnection: close\r\nContent-Length: " + std::to_string(text.size()) +
                      "\r\n" + headers + "\r\n");
            (void)say(text);
        }
        // The value of a request header; empty if it is missing.
        [[nodiscard]] std::string header(std::string const& name) const {
            std::size_t const at = head.find("\r\n" + name + ": ");
            std::size_t const begin = at + name.size() + 4;
            return at == head.npos ? std::string{} : head.substr(begin, head.find("\r\n", begin) - begin);
        }
        [[nodiscard]] bool is_list() const { return query.find("list-type=2") != query.npos; }
    };

    // `meanwhile` is called each time a part of a request's body arrives.
    explicit hostile_store(std::function<void(question const&)> answer, std::function<void(std::size_t)> meanwhile = {})
        : answer_{std::move(answer)}, meanwhile_{std::move(meanwhile)} {
        listening_ = ::socket(AF_INET, SOCK_STREAM, 0);
        int const room = 64 << 10;  // small: the sender has to wait for the receiver
        ::setsockopt(listening_, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof at;
        bool const works = ::bind(listening_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0 &&
                           ::listen(listening_, 64) == 0 &&
                           ::getsockname(listening_, reinterpret_cast<sockaddr*>(&at), &size) == 0;
        if (!works) { std::abort(); }
        port_ = ntohs(at.sin_port);
        accepting_ = std::thread{[this] { accept(); }};
    }
    hostile_store(hostile_store const&) = delete;
    hostile_store& operator=(hostile_store const&) = delete;
    ~hostile_store() {
        over_ = true;
        ::shutdown(listening_, SHUT_RDWR);
        accepting_.join();
        ::close(listening_);
    }

    [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    [[nodiscard]] std::uint64_t questions() const { return questions_; }
    [[nodiscard]] std::uint64_t bytes_sent() const { return sent_; }

private:
    void accept() {
        for (;;) {
            int const one = ::accept(listening_, nullptr, nullptr);
            if (one < 0) { return; }
            timeval const limit{1, 0};
            ::setsockopt(one, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
            ::setsockopt(one, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
            talk(one);
        }
    }
    void talk(int socket) {
        std::string text;
        char piece[65536];
        std::size_t head = text.npos, wanted = 0;
        while (head == text.npos || text.size() < head + 4 + wanted) {
            ssize_t const some = ::recv(socket, piece, sizeof piece, 0);
            if (some <= 0) { break; }
            text.append(piece, static_cast<std::size_t>(some));
            if (head == text.npos && (head = text.find("\r\n\r\n")) != text.npos) {
                std::size_t const at = text.find("Content-Length: ");
                wanted = at < head ? std::strtoull(text.c_str() + at + 16, nullptr, 10) : 0;
                if (text.find("Expect: 100") < head) {
                    constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
                    (void)::send(socket, go_on.data(), go_on.size(), MSG_NOSIGNAL);
                }
            }
            if (head != text.npos && text.size() > head + 4 && meanwhile_) { meanwhile_(text.size() - head - 4); }
        }
        if (head != text.npos && text.size() < head + 4 + wanted) { head = text.npos; }  // the request is incomplete
        question it;
        it.socket = socket, it.over = &over_, it.sent = &sent_;
        std::size_t const blank = text.find(' '), end = text.find(' ', blank + 1);
        if (head != text.npos && end != text.npos) {
            it.method = text.substr(0, blank);
            std::string const target = text.substr(blank + 1, end - blank - 1);
            it.path = target.substr(0, target.find('?'));
            if (it.path.size() < target.size()) { it.query = target.substr(it.path.size() + 1); }
            it.head = text.substr(0, head + 2);
            it.body = text.substr(head + 4);
            ++questions_;
            answer_(it);
        }
        ::shutdown(socket, SHUT_RDWR);
        ::close(socket);
    }

    std::function<void(question const&)> answer_;
    std::function<void(std::size_t)> meanwhile_;
    int listening_ = -1;
    unsigned port_ = 0;
    std::atomic<bool> over_{false};
    std::atomic<std::uint64_t> questions_{0}, sent_{0};
    std::thread accepting_{};
};

}  // namespace spotter_test
