// SPDX-License-Identifier: Apache-2.0
// Rule (L2): a rule that is composed at run time, from a rules file for example (ext/json/rules.hpp): one type that
// holds any rule.
#pragma once

#include <spotter/rule/adapt.hpp>
#include <spotter/rule/any_machine.hpp>
#include <spotter/rule/packs_in.hpp>

#include <atomic>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A rule behind a virtual interface, with a count of its owners. The count may change in any thread.
class hidden_rule {
public:
    hidden_rule() noexcept = default;
    hidden_rule(hidden_rule const&) = delete;
    hidden_rule& operator=(hidden_rule const&) = delete;
    virtual ~hidden_rule() = default;

    [[nodiscard]] virtual any_machine* make() const noexcept = 0;  // null: out of memory
    virtual void tell_packs(pack_names& into) const noexcept = 0;
    void hold() noexcept { holders_.fetch_add(1, std::memory_order_relaxed); }
    void let_go() noexcept {
        if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) { delete this; }
    }

private:
    std::atomic<std::size_t> holders_{1};
};

template <rule Rule, class Store>
class hidden_rule_of final : public hidden_rule {
public:
    hidden_rule_of(Rule const& it, Store const& store) noexcept : store_{store}, rule_{it} {}
    [[nodiscard]] any_machine* make() const noexcept override { return new (std::nothrow) any_machine_of<Rule>{rule_}; }
    void tell_packs(pack_names& into) const noexcept override { detail::tell_packs(rule_, into); }

private:
    [[no_unique_address]] Store store_;
    Rule rule_;
};

struct no_store {};

}  // namespace detail

// Holds a rule of any type; copies share it. It gives the same answers as that rule, at the cost of one more virtual
// call per event. A hook reads the clock for it at every close.
class dynamic_rule {
public:
    using kind = rule_kind;

    // `store` holds what the rule refers to (texts, patterns). A copy of it lives as long as the rule and every machine
    // made from it.
    template <rule Rule, class Store = detail::no_store>
        requires(!std::same_as<Rule, dynamic_rule>)
    explicit dynamic_rule(Rule const& it, Store const& store = {}) noexcept
        : it_{new(std::nothrow) detail::hidden_rule_of<Rule, Store>{it, store}} {}
    dynamic_rule(dynamic_rule const& other) noexcept : it_{other.it_} {
        if (it_ != nullptr) { it_->hold(); }
    }
    dynamic_rule(dynamic_rule&& other) noexcept : it_{std::exchange(other.it_, nullptr)} {}
    dynamic_rule& operator=(dynamic_rule other) noexcept {
        std::swap(it_, other.it_);
        return *this;
    }
    ~dynamic_rule() {
        if (it_ != nullptr) { it_->let_go(); }
    }

    // Names of the packs that it consists of, for the record.
    void tell_packs(detail::pack_names& into) const noexcept {
        if (it_ != nullptr) { it_->tell_packs(into); }
    }

private:
    friend class machine<dynamic_rule>;
    detail::hidden_rule* it_;  // null: out of memory
};

namespace detail {
struct holds_rule {
    dynamic_rule rule;
};
}  // namespace detail

// Keeps the rule alive as long as its machine, which may refer to the rule's store.
template <>
class machine<dynamic_rule> : detail::holds_rule, public detail::any_machine_owner {
public:
    explicit machine(dynamic_rule const& it) noexcept
        : detail::holds_rule{it}, detail::any_machine_owner{it.it_ != nullptr ? it.it_->make() : nullptr} {}
};

[[nodiscard]] inline dynamic_rule either_of(std::span<dynamic_rule const> all) noexcept;

// A rule as a dynamic one. A composed rule is taken apart, so that each kind of rule is compiled only once, whatever
// composition it is in.
template <rule Rule>
[[nodiscard]] dynamic_rule to_dynamic(Rule const& it) noexcept;

namespace detail {

template <class Rule>
struct decomposed {
    static dynamic_rule make(Rule const& it) noexcept { return dynamic_rule{it}; }
};
template <class Left, class Right>
struct decomposed<both_rules<Left, Right>> {
    static dynamic_rule make(both_rules<Left, Right> const& it) noexcept {
        return dynamic_rule{both_rules<dynamic_rule, dynamic_rule>{to_dynamic(it.left), to_dynamic(it.right)}};
    }
};
template <class Left, class Right>
struct decomposed<either_rule<Left, Right>> {
    static dynamic_rule make(either_rule<Left, Right> const& it) noexcept {
        return dynamic_rule{either_rule<dynamic_rule, dynamic_rule>{to_dynamic(it.left), to_dynamic(it.right)}};
    }
};
template <class Inner>
struct decomposed<not_rule<Inner>> {
    static dynamic_rule make(not_rule<Inner> const& it) noexcept {
        return dynamic_rule{not_rule<dynamic_rule>{to_dynamic(it.inner)}};
    }
};
template <class Inner, class Adaptor>
struct decomposed<adapted<Inner, Adaptor>> {
    static dynamic_rule make(adapted<Inner, Adaptor> const& it) noexcept {
        return dynamic_rule{to_dynamic(it.inner) | it.adaptor};
    }
};
template <class... Rules>
struct decomposed<rule_pack<Rules...>> {
    static dynamic_rule make(rule_pack<Rules...> const& it) noexcept {
        return it.rules.apply([](Rules const&... each) {
            dynamic_rule const all[] = {to_dynamic(each)...};
            return either_of(all);
        });
    }
};

}  // namespace detail

// The same answers as `||` of all of them, in their order. Builds a balanced tree, so that no rule is nested deeply.
// `all` must not be empty.
[[nodiscard]] inline dynamic_rule either_of(std::span<dynamic_rule const> all) noexcept {
    if (all.size() == 1) { return all[0]; }
    std::size_t const half = all.size() / 2;
    return dynamic_rule{
        either_rule<dynamic_rule, dynamic_rule>{either_of(all.first(half)), either_of(all.subspan(half))}};
}

template <rule Rule>
[[nodiscard]] dynamic_rule to_dynamic(Rule const& it) noexcept {
    if constexpr (std::same_as<Rule, dynamic_rule>) {
        return it;
    } else {
        return detail::decomposed<Rule>::make(it);
    }
}

}  // namespace spotter::inline SPOTTER_ABI
