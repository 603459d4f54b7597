// SPDX-License-Identifier: Apache-2.0
// Core: globs: their syntax, malformed ones, a random comparison with a simple matcher, and patterns built to be slow.
#include <spotter/core/pattern.hpp>

#include <tests/catch.hpp>

#include <chrono>
#include <string>

using namespace spotter;

namespace {

bool matches(std::string_view pattern, std::string_view name) { return glob{pattern}(name); }

// A simple reference matcher: braces are expanded, then every `*` tries every length. Slow and obviously right.
bool plain(std::string_view glob_text, std::string_view name) {
    if (glob_text.empty()) { return name.empty(); }
    if (glob_text[0] == '*') {
        for (std::size_t skip = 0; skip <= name.size(); ++skip) {
            if (plain(glob_text.substr(1), name.substr(skip))) { return true; }
        }
        return false;
    }
    if (name.empty()) { return false; }
    std::size_t used = 1;
    bool fits = glob_text[0] == '?' || glob_text[0] == name[0];
    if (glob_text[0] == '[') {  // in these tests a class has three letters, or `!` and two
        used = 5;
        bool const inverted = glob_text[1] == '!';
        fits = inverted ? name[0] != glob_text[2] && name[0] != glob_text[3]
                        : glob_text[1] <= name[0] && name[0] <= glob_text[3];
    }
    return fits && plain(glob_text.substr(used), name.substr(1));
}
bool simple(std::string const& pattern, std::string const& name) {
    std::size_t const close = pattern.find('}');
    if (close == pattern.npos) { return plain(pattern, name); }
    std::size_t const open = pattern.rfind('{', close);
    std::size_t start = open + 1;
    for (std::size_t i = start; i <= close; ++i) {
        if (i != close && pattern[i] != ',') { continue; }
        if (simple(pattern.substr(0, open) + pattern.substr(start, i - start) + pattern.substr(close + 1), name)) {
            return true;
        }
        start = i + 1;
    }
    return false;
}

class prng {
public:
    unsigned below(unsigned end) {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return static_cast<unsigned>(state_ >> 33) % end;
    }

private:
    std::uint64_t state_ = 42;
};

std::string random_pattern(prng& random, int depth) {
    std::string out;
    for (unsigned parts = random.below(5); parts > 0; --parts) {
        switch (random.below(depth > 0 ? 9 : 7)) {
            case 0:
            case 1:
                out += '*';
                break;
            case 2:
                out += '?';
                break;
            case 3:
                out += random.below(2) == 0 ? "[a-b]" : "[!ab]";
                break;
            case 7:
            case 8:
                out += '{' + random_pattern(random, depth - 1) + ',' + random_pattern(random, depth - 1) + '}';
                break;
            default:
                out += "ab/"[random.below(3)];
                break;
        }
    }
    return out;
}

}  // namespace

TEST_CASE("a glob matches the whole name [A16]", "[A16]") {
    CHECK(matches("loss", "loss"));
    CHECK_FALSE(matches("loss", "my_loss"));
    CHECK_FALSE(matches("loss", "loss2"));
    CHECK(matches("", ""));
    CHECK_FALSE(matches("", "a"));
    CHECK_FALSE(matches("a", ""));
    CHECK(matches("*", ""));
}

TEST_CASE("a star is any run of characters, also across `/`", "[A16]") {
    CHECK(matches("grad/*", "grad/fc1/w"));
    CHECK(matches("grad/*", "grad/"));
    CHECK_FALSE(matches("grad/*", "grads/w"));
    CHECK(matches("*/w", "a/b/w"));
    CHECK(matches("a*b*c", "a--b--bc"));
    CHECK(matches("**a**", "a"));
    CHECK_FALSE(matches("a*b", "a/bc"));
}

TEST_CASE("a question mark is one character, a class one of its members", "[A16]") {
    CHECK(matches("fc?/w", "fc1/w"));
    CHECK_FALSE(matches("fc?/w", "fc/w"));
    CHECK_FALSE(matches("fc?/w", "fc12/w"));
    CHECK(matches("[a-cx]", "b"));
    CHECK(matches("[a-cx]", "x"));
    CHECK_FALSE(matches("[a-cx]", "d"));
    CHECK(matches("[!0-9]*", "a1"));
    CHECK_FALSE(matches("[!0-9]*", "1a"));
    CHECK(matches("[]a]", "]"));
    CHECK(matches("[!]]", "a"));
    CHECK_FALSE(matches("[!]]", "]"));
    CHECK(matches("[a-]", "-"));
    CHECK(matches("[-a]", "-"));
    CHECK(matches("[*?{]", "{"));
}

TEST_CASE("braces are alternatives, and nest", "[A16]") {
    CHECK(matches("{w,b}", "b"));
    CHECK(matches("*/{w,bias,kernel}", "fc1/bias"));
    CHECK_FALSE(matches("{w,b}", "w,b"));
    CHECK(matches("fc{1,2{a,b}}/w", "fc2b/w"));
    CHECK(matches("a{,x}b", "ab"));
    CHECK(matches("a{}b", "ab"));
    CHECK(matches("{a*,*b}c", "xbc"));
    CHECK(matches("{[,],x}", ","));
    CHECK(matches("a,b", "a,b"));
    // All 26 letters as alternatives.
    CHECK(matches("{a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z}", "z"));
}

TEST_CASE("a backslash makes the next character itself", "[A16]") {
    CHECK(matches("\\*", "*"));
    CHECK_FALSE(matches("\\*", "a"));
    CHECK(matches("a\\{b\\}", "a{b}"));
    CHECK(matches("{a\\,b,c}", "a,b"));
    CHECK(matches("\\\\", "\\"));
}

TEST_CASE("a malformed glob is reported and matches nothing [S27]", "[S27]") {
    for (char const* bad : {"[", "[a", "[]", "[!", "[!]", "{", "{a", "}", "a}b", "{a}}", "\\", "a\\", "{a,[}"}) {
        INFO(bad);
        glob const it{std::string_view{bad}};
        CHECK_FALSE(it.well_formed());
        CHECK_FALSE(it(std::string_view{bad}));
        CHECK(malformed_part(it) == bad);
    }
    CHECK(malformed_part(glob{"a"} && !glob{std::string_view{"[x"}}) == "[x");
    CHECK(malformed_part(glob{"a"} || glob{"b"}).empty());
    static_assert(glob{"grad/*"}.well_formed() && glob{"*/{w,b}"}("fc1/w") && !glob{"*/{w,b}"}("fc1/x"));
}

TEST_CASE("random globs agree with a simple matcher") {
    prng random;
    unsigned wrong = 0, yes = 0;
    for (int round = 0; round < 40000; ++round) {
        std::string const pattern = random_pattern(random, 2);
        std::string name;
        for (unsigned size = random.below(7); size > 0; --size) { name += "ab/"[random.below(3)]; }
        bool const expected = simple(pattern, name);
        yes += expected ? 1 : 0;
        if (matches(pattern, name) != expected) {
            ++wrong;
            UNSCOPED_INFO(pattern << " on " << name);
        }
    }
    CHECK(wrong == 0);
    CHECK(yes > 4000);
}

TEST_CASE("a pattern made to be slow is not") {
    auto const start = std::chrono::steady_clock::now();
    std::string const name(200, 'a');
    CHECK_FALSE(matches("*a*a*a*a*b", name));
    CHECK_FALSE(matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", name));
    std::string braces;
    for (int i = 0; i < 60; ++i) { braces += "{a,aa,*}"; }
    CHECK_FALSE(matches(braces + "b", name));
    CHECK(matches(braces, name));
    CHECK_FALSE(matches("{*{*{*{*a,b}*,c}*,d}*,e}x", name));
    std::string const long_name(5000, 'a');
    CHECK(matches("*a*a*", long_name));
    CHECK_FALSE(matches("*{a,b}*c", long_name));
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds{5});
    // For any pattern: at most twice the pattern's length times the name's.
    for (std::string const& each :
         {braces + "b", std::string(2000, '*') + "b", "{" + std::string(2000, ',') + "}",
          std::string(32, '{') + "*,*" + std::string(32, '}'), std::string{"[a-z]*[!b]*\\a*{a,{*,*}*}*b"}}) {
        std::uint64_t steps = 0;
        (void)detail::glob_matcher::match(each, long_name, &steps);
        CHECK(steps <= 2 * each.size() * (long_name.size() + 1));
        CHECK(steps > long_name.size());
    }
}

TEST_CASE("a malformed glob says what is wrong, and where; one that is too long or too deep is one [S27]", "[S27]") {
    auto const fault_of = [](std::string const& text) {
        pattern_fault const found = glob{std::string_view{text}}.fault();
        return found.empty() ? "fine" : std::to_string(found.at) + ": " + std::string{found.why};
    };
    CHECK(fault_of("grad/[ab") == "5: the [ is not closed");
    CHECK(fault_of("a{b,{c,d}") == "1: the { is not closed");
    CHECK(fault_of("a}b") == "1: the } closes nothing");
    CHECK(fault_of("ab\\") == "2: it ends in a backslash");
    CHECK(fault_of("{a,[}]}") == "fine");
    CHECK(fault_of(std::string(10000, '{') + std::string(10000, '}')) == "16384: it is longer than 16384 characters");
    CHECK(fault_of(std::string(8000, '{') + std::string(8000, '}')) == "32: braces are nested more than 32 deep");
    CHECK(fault_of("ab" + std::string(33, '{') + std::string(33, '}')) == "34: braces are nested more than 32 deep");
    std::string const deep = std::string(32, '{') + "loss" + std::string(32, '}');
    CHECK(fault_of(deep) == "fine");
    CHECK(matches(deep, "loss"));
    CHECK(fault_of(std::string(16384, '*')) == "fine");
    CHECK(fault_of(std::string(16385, '*')) == "16384: it is longer than 16384 characters");
    text<120> reported;
    reported << malformed_part(glob{"a"} && !glob{std::string_view{"x[y"}});
    CHECK(reported.view() == "\"x[y\" (at 1: the [ is not closed)");
}
