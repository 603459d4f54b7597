// SPDX-License-Identifier: Apache-2.0
// Plan (L2), opt-in: patterns by regular expression (ECMAScript, unanchored search), like SageMaker Debugger's
// include_regex.
#pragma once

#include <spotter/core/describe.hpp>
#include <spotter/core/pattern.hpp>
#include <spotter/plan/regex_program.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// The regular expressions of ECMAScript, over bytes, without what a finite automaton cannot do: back-references and
// look-around. Lazy repetitions are accepted and treated as greedy: whether there is a match is the same.
class regex_reader {
public:
    static constexpr std::size_t deepest = 64;
    static constexpr std::uint32_t most_repetitions = 1000;

    // Empty if it succeeds; `into` is then the program.
    [[nodiscard]] static constexpr pattern_fault read(std::string_view expression, regex_program& into) noexcept {
        if (expression.size() > longest_pattern) {
            return {expression, "it is longer than 16384 characters", longest_pattern};
        }
        regex_reader reader{expression, into};
        bool fine = reader.alternatives(0);
        if (fine && reader.at_ < expression.size()) { fine = reader.wrong("the ) closes nothing", reader.at_); }
        return fine ? pattern_fault{} : pattern_fault{expression, reader.why_, reader.where_};
    }

private:
    using does = regex_instruction::does;

    constexpr regex_reader(std::string_view expression, regex_program& into) noexcept
        : text_{expression}, program_{into} {}

    constexpr bool wrong(std::string_view why, std::size_t where) noexcept {
        why_ = why;
        where_ = where;
        return false;
    }
    constexpr bool too_long(std::size_t where) noexcept {
        return wrong("it comes to more than 16384 states, or there is no memory for them", where);
    }
    [[nodiscard]] constexpr bool put(regex_instruction const& it) noexcept {
        return program_.put(it) || too_long(at_ > 0 ? at_ - 1 : 0);
    }
    [[nodiscard]] constexpr bool more() const noexcept { return at_ < text_.size(); }
    [[nodiscard]] constexpr bool take(char letter) noexcept {
        bool const is = more() && text_[at_] == letter;
        at_ += is ? 1 : 0;
        return is;
    }
    [[nodiscard]] static constexpr std::int32_t distance(std::size_t from, std::size_t to) noexcept {
        return static_cast<std::int32_t>(static_cast<std::int64_t>(to) - static_cast<std::int64_t>(from));
    }

    // a|b|c, up to the end or a `)`. Each alternative but the last becomes: `fork` to the next one, its body, `leap` to
    // the end. Until the end is known the leaps are a chain of distances to the previous leap.
    constexpr bool alternatives(std::size_t depth) noexcept {
        std::size_t last_leap = none;
        for (;;) {
            std::size_t const start = program_.size();
            if (!sequence(depth)) { return false; }
            if (!take('|')) { break; }
            if (!program_.insert(start, {does::fork}) || !put({does::leap})) { return too_long(at_ - 1); }
            std::size_t const leap = program_.size() - 1;
            program_[start].away = distance(start, program_.size());
            program_[leap].away = last_leap == none ? 0 : distance(leap, last_leap);
            last_leap = leap;
        }
        while (last_leap != none) {
            std::int32_t const to_next = program_[last_leap].away;
            program_[last_leap].away = distance(last_leap, program_.size());
            last_leap = to_next == 0 ? none : static_cast<std::size_t>(static_cast<std::int64_t>(last_leap) + to_next);
        }
        return true;
    }
    constexpr bool sequence(std::size_t depth) noexcept {
        while (more() && text_[at_] != '|' && text_[at_] != ')') {
            std::size_t const begin = at_;
            std::size_t const start = program_.size();
            bool repeatable = true;
            if (!one(depth, repeatable) || !repeated(start, begin, repeatable)) { return false; }
        }
        return true;
    }
    constexpr bool one(std::size_t depth, bool& repeatable) noexcept {
        char const letter = text_[at_++];
        switch (letter) {
            case '^':
            case '$':
                repeatable = false;
                return put({letter == '^' ? does::begin : does::end});
            case '.':
                return put({does::any});
            case '(':
                return group(depth);
            case '[':
                return one_of();
            case '\\':
                return escape(repeatable);
            case '*':
            case '+':
            case '?':
                return wrong("there is nothing before it to repeat", at_ - 1);
            case '{':
                return wrong("there is nothing before it to repeat; the character is \\{", at_ - 1);
            default:
                return put({does::letter, static_cast<unsigned char>(letter)});
        }
    }
    constexpr bool group(std::size_t depth) noexcept {
        std::size_t const open = at_ - 1;
        if (depth == deepest) { return wrong("groups are nested more than 64 deep", open); }
        if (take('?')) {
            if (take('=') || take('!')) { return wrong("looking ahead is not supported", open); }
            if (take('<')) {
                return more() && (text_[at_] == '=' || text_[at_] == '!')
                           ? wrong("looking behind is not supported", open)
                           : wrong("groups have no names here: write ( )", open);
            }
            if (!take(':')) { return wrong("of what begins with (? only (?: ) is supported", open); }
        }
        if (!alternatives(depth + 1)) { return false; }
        return take(')') || wrong("the ( is not closed", open);
    }

    // A repetition: * + ? {2} {2,} {2,3}, each with an optional ? for lazy. The repeated piece begins at `start` in the
    // program.
    constexpr bool repeated(std::size_t start, std::size_t begin, bool repeatable) noexcept {
        std::size_t const sign = at_;
        std::uint32_t least = 1, most = 1;
        if (take('*')) {
            least = 0;
            most = endless;
        } else if (take('+')) {
            most = endless;
        } else if (take('?')) {
            least = 0;
        } else if (take('{')) {
            if (!counts(sign, least, most)) { return false; }
        } else {
            return true;
        }
        if (!repeatable) { return wrong("what stands at a place cannot be repeated", begin); }
        (void)take('?');
        if (more() && (text_[at_] == '*' || text_[at_] == '+' || text_[at_] == '?' || text_[at_] == '{')) {
            return wrong("what is repeated already takes no second repetition; write a group", at_);
        }
        return repeat(start, least, most) || too_long(sign);
    }
    constexpr bool counts(std::size_t open, std::uint32_t& least, std::uint32_t& most) noexcept {
        if (!number(least)) { return wrong("a count is {2}, {2,} or {2,3}; the character is \\{", open); }
        most = least;
        if (take(',') && !number(most)) { most = endless; }
        if (!take('}')) { return wrong("a count is {2}, {2,} or {2,3}; the character is \\{", open); }
        if (least > most_repetitions || (most != endless && most > most_repetitions)) {
            return wrong("1000 repetitions are the most that can be counted", open);
        }
        return least <= most || wrong("the count ends before it begins", open);
    }
    [[nodiscard]] constexpr bool number(std::uint32_t& into) noexcept {
        std::size_t const begin = at_;
        for (into = 0; more() && is_digit(text_[at_]); ++at_) {
            if (into <= most_repetitions) { into = into * 10 + static_cast<std::uint32_t>(text_[at_] - '0'); }
        }
        return at_ > begin;
    }
    // Expands the piece from `start` on: the required copies, then the optional ones.
    [[nodiscard]] constexpr bool repeat(std::size_t start, std::uint32_t least, std::uint32_t most) noexcept {
        std::size_t const size = program_.size() - start;
        if (most == 0) {
            program_.truncate(start);
            return true;
        }
        for (std::uint32_t i = 1; i < least; ++i) {
            if (!program_.repeat(start, size)) { return false; }
        }
        if (most == endless && least > 0) {  // repeats the last copy
            return program_.put({does::fork, 0, -static_cast<std::int32_t>(size)});
        }
        if (least > 0) {
            for (std::uint32_t i = least; i < most; ++i) {
                if (!program_.put({does::fork, 0, static_cast<std::int32_t>(size) + 1}) ||
                    !program_.repeat(start, size)) {
                    return false;
                }
            }
            return true;
        }
        bool const loop = most == endless;
        if (!program_.insert(start, {does::fork, 0, static_cast<std::int32_t>(size) + (loop ? 2 : 1)})) {
            return false;
        }
        if (loop) { return program_.put({does::leap, 0, -static_cast<std::int32_t>(size) - 1}); }
        for (std::uint32_t i = 1; i < most; ++i) {
            if (!program_.repeat(start, size + 1)) { return false; }
        }
        return true;
    }

    // After a backslash, outside of a class.
    constexpr bool escape(bool& repeatable) noexcept {
        std::size_t const begin = at_ - 1;
        if (!more()) { return wrong("it ends in a backslash", begin); }
        char const letter = text_[at_];
        if (letter == 'b' || letter == 'B') {
            ++at_;
            repeatable = false;
            return put({letter == 'b' ? does::boundary : does::no_boundary});
        }
        if (is_digit(letter) && letter != '0') { return wrong("back-references are not supported", begin); }
        byte_set set;
        unsigned char value = 0;
        bool several = false;
        if (!escaped(begin, set, value, several)) { return false; }
        if (!several) { return put({does::letter, value}); }
        return program_.put(set) || too_long(begin);
    }
    // One character, in `value`, or a class, which is added to `set`.
    constexpr bool escaped(std::size_t begin, byte_set& set, unsigned char& value, bool& several) noexcept {
        constexpr std::string_view names = "tnvfr", controls = "\t\n\v\f\r";
        char const letter = text_[at_++];
        several = add_escaped_class(set, letter);
        if (several) { return true; }
        if (letter == 'c') { return control(begin, value); }
        if (letter == 'x' || letter == 'u') { return by_number(begin, letter == 'u', value); }
        if (letter == '0') {
            value = 0;
            return !(more() && is_digit(text_[at_])) || wrong("octal numbers are not supported: \\x41", begin);
        }
        std::size_t const known = names.find(letter);
        value = static_cast<unsigned char>(known != names.npos ? controls[known] : letter);
        return known != names.npos || (!is_letter(letter) && !is_digit(letter)) ||
               wrong("there is no such escape in ECMAScript", begin);
    }
    // Adds \d \s \w or their complements \D \S \W.
    [[nodiscard]] static constexpr bool add_escaped_class(byte_set& set, char letter) noexcept {
        constexpr std::string_view names = "dswDSW";
        std::size_t const at = names.find(letter);
        if (at == names.npos) { return false; }
        byte_set named;
        (void)add_named_class(named, names.substr(at % 3, 1));
        if (at >= 3) { named.invert(); }
        set.join(named);
        return true;
    }
    constexpr bool control(std::size_t begin, unsigned char& value) noexcept {
        if (!more() || !is_letter(text_[at_])) { return wrong("\\c is followed by a letter", begin); }
        value = static_cast<unsigned char>(text_[at_++] & 0x1F);
        return true;
    }
    constexpr bool by_number(std::size_t begin, bool long_one, unsigned char& value) noexcept {
        unsigned number = 0;
        for (int digits = long_one ? 4 : 2; digits > 0; --digits) {
            int const digit = more() ? hexadecimal(text_[at_]) : -1;
            if (digit < 0) {
                return wrong(long_one ? "\\u is followed by four hexadecimal digits"
                                      : "\\x is followed by two hexadecimal digits",
                             begin);
            }
            number = number * 16 + static_cast<unsigned>(digit);
            ++at_;
        }
        if (long_one && number > 0x7F) {
            return wrong("names are compared by bytes: write the character itself", begin);
        }
        value = static_cast<unsigned char>(number);
        return true;
    }
    [[nodiscard]] static constexpr bool is_digit(char letter) noexcept { return letter >= '0' && letter <= '9'; }
    [[nodiscard]] static constexpr bool is_letter(char letter) noexcept {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
    }
    [[nodiscard]] static constexpr int hexadecimal(char digit) noexcept {
        if (is_digit(digit)) { return digit - '0'; }
        if (digit >= 'a' && digit <= 'f') { return digit - 'a' + 10; }
        return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
    }

    // [abc], [^a-z], [\w.-], [[:alpha:]].
    constexpr bool one_of() noexcept {
        std::size_t const open = at_ - 1;
        bool const inverted = take('^');
        byte_set set;
        if (more() && text_[at_] == ']' && !inverted) {
            return wrong("a class without members matches nothing; the character is \\]", open);
        }
        while (more() && text_[at_] != ']') {
            if (!member_or_range(set)) { return false; }
        }
        if (!take(']')) { return wrong("the [ is not closed", open); }
        if (inverted) { set.invert(); }
        return program_.put(set) || too_long(open);
    }
    constexpr bool member_or_range(byte_set& set) noexcept {
        std::size_t const begin = at_;
        unsigned char first = 0, last = 0;
        bool several = false, several_last = false;
        if (!member(set, first, several)) { return false; }
        bool const range = at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']';
        if (!range) {
            if (!several) { set.add(first); }
            return true;
        }
        ++at_;
        if (!member(set, last, several_last)) { return false; }
        if (several || several_last) {  // a class cannot end a range: the - is literal
            set.add('-');
            if (!several) { set.add(first); }
            if (!several_last) { set.add(last); }
            return true;
        }
        if (last < first) { return wrong("the range ends before it begins", begin); }
        set.add(first, last);
        return true;
    }
    constexpr bool member(byte_set& set, unsigned char& value, bool& several) noexcept {
        std::size_t const begin = at_;
        char const letter = text_[at_++];
        several = false;
        value = static_cast<unsigned char>(letter);
        if (letter == '\\') {
            if (!more()) { return wrong("it ends in a backslash", begin); }
            if (take('b')) {
                value = '\b';
                return true;
            }
            return escaped(begin, set, value, several);
        }
        if (letter != '[' || !more() || (text_[at_] != ':' && text_[at_] != '.' && text_[at_] != '=')) { return true; }
        if (text_[at_] != ':') {
            return wrong("of what begins with [[ only [[:alpha:]] and the like are supported", begin);
        }
        std::size_t const end = text_.find(":]", at_ + 1);
        several = true;
        if (end == text_.npos || !add_named_class(set, text_.substr(at_ + 1, end - at_ - 1))) {
            return wrong(
                "there is no such class: alpha digit alnum upper lower space blank punct print graph cntrl xdigit",
                begin);
        }
        at_ = end + 2;
        return true;
    }

    static constexpr std::uint32_t endless = ~std::uint32_t{0};
    static constexpr std::size_t none = ~std::size_t{0};

    std::string_view text_;
    regex_program& program_;
    std::size_t at_ = 0, where_ = 0;
    std::string_view why_{};
};

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Called for a malformed expression during constant evaluation, where the compiler stops and shows this name.
inline void malformed_regular_expression_see_docs_plan() noexcept {}

}  // namespace detail

// Refers to the text, which must outlive it. Compiled when a tensor is declared, never in a step. The time of a match
// is the length of the expression times that of the name. A malformed expression in a constant does not compile;
// otherwise it is errc::bad_pattern when the hook starts. docs/plan.md lists the supported syntax.
struct regex {
    using kind = pattern_kind;
    std::string_view pattern{};  // the expression; not owned

    constexpr regex(char const* text) noexcept : regex{std::string_view{text}} {}
    constexpr explicit regex(std::string_view text) noexcept : pattern{text} {
        if (std::is_constant_evaluated() && !well_formed()) { detail::malformed_regular_expression_see_docs_plan(); }
    }

    // The fault and its position; empty if the expression is well-formed.
    [[nodiscard]] constexpr pattern_fault fault() const noexcept {
        detail::regex_program ignored;
        return detail::regex_reader::read(pattern, ignored);
    }
    // Whether it has no fault.
    [[nodiscard]] constexpr bool well_formed() const noexcept { return fault().empty(); }
    [[nodiscard]] constexpr bool operator()(tensor_info const& tensor) const noexcept { return (*this)(tensor.name); }
    [[nodiscard]] constexpr bool operator()(std::string_view name) const noexcept {
        detail::regex_program program;
        return detail::regex_reader::read(pattern, program).empty() && program.search(name);
    }
};
constexpr void describe(regex const& it, sentence& out) noexcept { out << "regex{\"" << it.pattern << "\"}"; }

}  // namespace spotter::inline SPOTTER_ABI
