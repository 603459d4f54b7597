// SPDX-License-Identifier: Apache-2.0
// Names by regular expression: an unanchored search like std::regex's, in time linear in the name. A malformed
// expression is reported when the hook starts, with the place.
#include <tests/catch.hpp>
#include <tests/hook/collect.hpp>

#include <spotter/plan/regex.hpp>

#include <string>
#if SPOTTER_EXCEPTIONS
#include <regex>
#endif

using namespace spotter;
using namespace spotter_test;

namespace {

bool finds(std::string_view expression, std::string_view name) { return spotter::regex{expression}(name); }

// The fault of an expression, as `place: why`.
std::string fault_of(std::string_view expression) {
    pattern_fault const found = spotter::regex{expression}.fault();
    CHECK((found.empty() || found == expression));
    return found.empty() ? "fine" : std::to_string(found.at) + ": " + std::string{found.why};
}

// The number of instructions of a compiled expression, and of the steps that a search takes.
struct cost {
    std::uint64_t size = 0, looks = 0;
    bool found = false;
};
cost cost_of(std::string_view expression, std::string_view name) {
    detail::regex_program program;
    REQUIRE(detail::regex_reader::read(expression, program).empty());
    cost it;
    it.size = program.size();
    it.found = program.search(name, &it.looks);
    return it;
}
std::string repeated(std::string_view what, std::size_t count) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) { all += what; }
    return all;
}

#if SPOTTER_EXCEPTIONS
class prng {
public:
    unsigned below(unsigned end) {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return static_cast<unsigned>(state_ >> 33) % end;
    }

private:
    std::uint64_t state_ = 45;
};

std::string random_expression(prng& random, int depth) {
    static constexpr char const* atoms[] = {"a",      "b",           "_",   "/",   ".",     "[ab]", "[^a]",
                                            "[a-b/]", "\\w",         "\\W", "\\d", "\\.",   "\\s",  "\\b",
                                            "\\B",    "[[:alpha:]]", "^",   "$",   "[\\w/]"};
    static constexpr char const* signs[] = {"*", "+", "?", "{2}", "{0,2}", "{1,}", "{2,3}", "*?", "+?", "??"};
    std::string out;
    for (unsigned parts = 1 + random.below(3); parts > 0; --parts) {
        std::string piece;
        if (depth > 0 && random.below(3) == 0) {
            piece = (random.below(2) == 0 ? "(" : "(?:") + random_expression(random, depth - 1) + ")";
        } else {
            piece = atoms[random.below(19)];
        }
        bool const is_place = piece == "^" || piece == "$" || piece == "\\b" || piece == "\\B";
        if (!is_place && random.below(3) == 0) { piece += signs[random.below(10)]; }
        out += piece;
    }
    if (random.below(4) == 0) { out += "|" + random_expression(random, 0); }
    return out;
}
#endif

}  // namespace

TEST_CASE("an expression of SageMaker Debugger's means what it meant: search anywhere in the name [A16]") {
    collecting_sink sink;
    hook watch{sink, plan{collection{"outputs", spotter::regex{".*relu_output"}},
                          collection{"layers", spotter::regex{"fc[12]/"} && !glob{"grad/*"}}}};
    (void)watch.step(train(0), "conv0_relu_output_0"_t = 1.0, "relu"_t = 1.0, "fc1/w"_t = 1.0, "grad/fc2/w"_t = 1.0,
                     "fc3/w"_t = 1.0);
    CHECK(sink.kept.size() == 2);
    CHECK(sink.infos["conv0_relu_output_0"].collections == 0b01);
    CHECK(sink.infos["fc1/w"].collections == 0b10);
    CHECK(sink.collections[1] == "layers: (regex{\"fc[12]/\"} && !\"grad/*\"), always: payload");
}

TEST_CASE("a malformed expression is bad_pattern that names it, and nothing of the plan is half applied [S27]") {
    collecting_sink sink;
    hook watch{sink, plan{collection{"good", "*"}, collection{"bad", spotter::regex{"grad/("}}}};
    CHECK(watch.health().first_error.code == errc::bad_pattern);
    CHECK(watch.health().first_error.what.view().find("grad/(") != std::string_view::npos);
    (void)watch.step(train(0), "grad/x"_t = 1.0, "y"_t = 1.0);
    CHECK(sink.kept.empty());
    CHECK(watch.health().steps == 1);
}

TEST_CASE("a rule may select by expression; a malformed one switches it off") {
    hook watch{plan{}, any(spotter::regex{"^fc.*w$"}, maximum > 0.0), any(spotter::regex{"["}, maximum > 0.0)};
    CHECK(watch.health().first_error.code == errc::bad_pattern);
    CHECK(watch.step(train(0), "fc/w"_t = 1.0, "fc/b"_t = 1.0).size() == 1);
}

TEST_CASE("what an expression is made of: characters, classes, places, groups, alternatives, counts [A16]", "[A16]") {
    CHECK(finds("", ""));
    CHECK(finds("", "a"));
    CHECK(finds("relu", "net/relu:0"));
    CHECK_FALSE(finds("relu", "net/elu"));
    CHECK(finds("^a.c$", "abc"));
    CHECK_FALSE(finds("^a.c$", "a\nc"));
    CHECK_FALSE(finds("^bc", "abc"));
    CHECK_FALSE(finds("ab$", "abc"));
    CHECK(finds("^(conv|fc)[0-9]{1,2}/w$", "fc12/w"));
    CHECK_FALSE(finds("^(conv|fc)[0-9]{1,2}/w$", "fc123/w"));
    CHECK(finds("^(?:a|b|)c$", "c"));
    CHECK(finds("^a{2,}$", "aaaa"));
    CHECK_FALSE(finds("^a{2,}$", "a"));
    CHECK(finds("^a{0}b{3}$", "bbb"));
    CHECK_FALSE(finds("^a{0}b{3}$", "abbb"));
    CHECK(finds("^(ab?){2,3}$", "aaba"));
    CHECK(finds("\\bw\\b", "fc/w:0"));
    CHECK_FALSE(finds("\\bw\\b", "fc/sw"));
    CHECK(finds("[^\\d/]+/\\d+$", "layer/17"));
    CHECK(finds("^[\\w.-]+$", "a.b-c_1"));
    CHECK(finds("^[\\]-a]+$", "]^_`a"));
    CHECK(finds("^\\x41\\u0042\\t\\x2e$", "AB\t."));
    CHECK(finds("[^]", "\n"));
    CHECK(finds("^a+?b*?$", "aabb"));
    CHECK(finds("}]", "x}]"));
    CHECK(finds("^\xc3\xa9+$", "\xc3\xa9"));  // matched by bytes: the + applies to the second byte
    static_assert(spotter::regex{".*relu_output"}("conv0_relu_output_0") && !spotter::regex{"^relu"}("a/relu"));
}

TEST_CASE("the fault of an expression is reported with its place, also what is not supported [S27]", "[S27]") {
    CHECK(fault_of("grad/(") == "5: the ( is not closed");
    CHECK(fault_of("(a(b)") == "0: the ( is not closed");
    CHECK(fault_of("a)") == "1: the ) closes nothing");
    CHECK(fault_of("x[a") == "1: the [ is not closed");
    CHECK(fault_of("[") == "0: the [ is not closed");
    CHECK(fault_of("a[]b]") == "1: a class without members matches nothing; the character is \\]");
    CHECK(fault_of("[b-a]") == "1: the range ends before it begins");
    CHECK(fault_of("ab\\") == "2: it ends in a backslash");
    CHECK(fault_of("[\\") == "1: it ends in a backslash");
    CHECK(fault_of("*a") == "0: there is nothing before it to repeat");
    CHECK(fault_of("a|+") == "2: there is nothing before it to repeat");
    CHECK(fault_of("a{") == "1: a count is {2}, {2,} or {2,3}; the character is \\{");
    CHECK(fault_of("a{,3}").starts_with("1: a count is"));
    CHECK(fault_of("a{3,2}") == "1: the count ends before it begins");
    CHECK(fault_of("a{1001}") == "1: 1000 repetitions are the most that can be counted");
    CHECK(fault_of("a{99999999999999999999}") == "1: 1000 repetitions are the most that can be counted");
    CHECK(fault_of("a**").starts_with("2: what is repeated already"));
    CHECK(fault_of("x^*") == "1: what stands at a place cannot be repeated");
    CHECK(fault_of("(a)\\1") == "3: back-references are not supported");
    CHECK(fault_of("a(?=b)") == "1: looking ahead is not supported");
    CHECK(fault_of("a(?!b)") == "1: looking ahead is not supported");
    CHECK(fault_of("(?<=a)b") == "0: looking behind is not supported");
    CHECK(fault_of("(?<!a)b") == "0: looking behind is not supported");
    CHECK(fault_of("(?<name>a)") == "0: groups have no names here: write ( )");
    CHECK(fault_of("(?i)relu") == "0: of what begins with (? only (?: ) is supported");
    CHECK(fault_of("^a\\Z") == "2: there is no such escape in ECMAScript");
    CHECK(fault_of("\\xg1") == "0: \\x is followed by two hexadecimal digits");
    CHECK(fault_of("\\u00e9") == "0: names are compared by bytes: write the character itself");
    CHECK(fault_of("[[:alfa:]]").starts_with("1: there is no such class"));
    CHECK(fault_of("[[.a.]]").starts_with("1: of what begins with [["));
    CHECK(fault_of("a|b(c|[d]{2})*") == "fine");
    std::string const bad = "ab(c";
    hook watch{plan{collection{"x", spotter::regex{std::string_view{bad}}}}};
    CHECK(watch.health().first_error.what.view() ==
          "\"ab(c\" (at 2: the ( is not closed) is a malformed pattern of the plan; the plan is not applied, rules and "
          "scalars go on");
}

TEST_CASE("an expression made to be slow is not: the looks are counted [S27]", "[S27]") {
    std::string const many(5000, 'a');
    for (std::string_view const hostile : {"^(a+)+$", "(.|x)*relu", "(a|aa)*b", "(a*)*b", "((a?){30}a{30}){3}b",
                                           "(.*.*.*.*)*x", "^(([a-z])+.)+[A-Z]([a-z])+$", "(|a)*b", "(a?){1000}b"}) {
        INFO(hostile);
        cost const it = cost_of(hostile, many + "!");
        CHECK_FALSE(it.found);
        CHECK(it.looks <= 2 * (it.size + 1) * (many.size() + 2));
    }
    cost const shorter = cost_of("(.|x)*relu", std::string(1000, 'y')),
               longer = cost_of("(.|x)*relu", std::string(2000, 'y'));
    CHECK(longer.looks < 2 * shorter.looks + 100);
    CHECK(finds("(.|x)*relu", std::string(1'000'000, 'y') + "relu"));
}

TEST_CASE("an expression that is too long, too deep or repeats too much is refused with the place [S27]", "[S27]") {
    CHECK(fault_of(repeated("(", 30000) + repeated(")", 30000)) == "16384: it is longer than 16384 characters");
    CHECK(fault_of(repeated("(", 8000) + repeated(")", 8000)) == "64: groups are nested more than 64 deep");
    CHECK(fault_of(repeated("(", 64) + repeated(")", 64)) == "fine");
    CHECK(fault_of(repeated("(?:", 65) + repeated(")", 65)) == "192: groups are nested more than 64 deep");
    CHECK(fault_of("((a{1000}){1000}){1000}").starts_with("10: it comes to more than 16384 states"));
    CHECK(fault_of("x(((((a?){100}){100}){100}){100}){100}").starts_with("15: it comes to more than 16384 states"));
    CHECK(fault_of("((((((){1000}){1000}){1000}){1000}){1000})") == "fine");  // repeating nothing costs nothing
    CHECK(fault_of(repeated("a", 16384)) == "fine");
    CHECK(fault_of(repeated("a|", 8192)).find("states") != std::string::npos);
    std::string const deep = repeated("(", 8000) + repeated(")", 8000);
    hook watch{plan{collection{"x", spotter::regex{std::string_view{deep}}}}};
    CHECK(watch.health().first_error.code == errc::bad_pattern);
    CHECK(watch.health().first_error.what.view().find("at 64: groups are nested more than 64 deep") !=
          std::string_view::npos);
}

#if SPOTTER_EXCEPTIONS
TEST_CASE("random expressions find what std::regex finds [A16]", "[A16]") {
    prng random;
    unsigned wrong = 0, yes = 0, refused = 0;
    for (int round = 0; round < 3000; ++round) {
        std::string const expression = random_expression(random, 2);
        std::regex const theirs{expression, std::regex::ECMAScript};
#if defined(_LIBCPP_VERSION)  // libc++ 19 sees no word boundary at the end of a text
        if (expression.find("\\b") != expression.npos || expression.find("\\B") != expression.npos) { continue; }
#endif
        refused += spotter::regex{std::string_view{expression}}.well_formed() ? 0 : 1;
        for (int i = 0; i < 4; ++i) {
            std::string name;
            for (unsigned size = random.below(7); size > 0; --size) { name += "ab_/1. "[random.below(7)]; }
            bool const expected = std::regex_search(name, theirs);
            yes += expected ? 1 : 0;
            if (finds(expression, name) != expected) {
                ++wrong;
                UNSCOPED_INFO(expression << " on \"" << name << "\", expected " << expected);
            }
        }
    }
    CHECK(wrong == 0);
    CHECK(refused == 0);
    CHECK((yes > 2000 && yes < 10000));
}
#endif
