/* SPDX-License-Identifier: Apache-2.0 */
/* A loop in C is examined: a right one, one with a wrong update, one with a gradient of the wrong sign, and what cannot
 * be examined. */
#include <spotter/c/spotter.h>

#include <stdio.h>
#include <string.h>

spotter_hook* create_everything(const char* path); /* everything.cpp */

static int failures = 0;
#define CHECK(what) \
    do { \
        if (!(what)) { \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
            ++failures; \
        } \
    } while (0)

enum { samples = 12, in = 3 };

/* A linear regression with a bias. */
typedef struct net {
    float x[samples][in], y[samples], out[samples], w[in], b, grad_w[in], grad_b;
    float rate, sign;
} net;

static void make(net* it) {
    int i, j;
    unsigned state = 5;
    memset(it, 0, sizeof *it);
    it->rate = 0.05F, it->sign = 1;
    for (i = 0; i < samples; ++i) {
        for (j = 0; j < in; ++j) {
            state = state * 1664525U + 1013904223U;
            it->x[i][j] = (float)(state >> 8) / 8388608.0F - 1;
        }
        it->y[i] = it->x[i][0] - it->x[i][1] / 2 + 0.3F;
    }
    for (j = 0; j < in; ++j) { it->w[j] = 0.2F * (float)(j - 1) + 0.1F; }
}

static double backward(void* user) {
    net* it = (net*)user;
    double loss = 0;
    int i, j;
    memset(it->grad_w, 0, sizeof it->grad_w), it->grad_b = 0;
    for (i = 0; i < samples; ++i) {
        float gap, slope;
        it->out[i] = it->b;
        for (j = 0; j < in; ++j) { it->out[i] += it->w[j] * it->x[i][j]; }
        gap = it->out[i] - it->y[i], slope = it->sign * 2 * gap / samples;
        loss += (double)gap * gap / samples;
        for (j = 0; j < in; ++j) { it->grad_w[j] += slope * it->x[i][j]; }
        it->grad_b += slope;
    }
    return loss;
}
static void update(void* user) {
    net* it = (net*)user;
    int j;
    for (j = 0; j < in; ++j) { it->w[j] -= it->rate * it->grad_w[j]; }
    it->b -= it->rate * it->grad_b;
}
static void show(void* user, spotter_parameters* to) {
    static const spotter_uint64 wide[1] = {in}, batch[2] = {samples, in}, rows[1] = {samples};
    net* it = (net*)user;
    spotter_show_parameter(to, "fc/w", SPOTTER_FLAG_NONE, SPOTTER_F32, it->w, it->grad_w, 1, wide);
    spotter_show_parameter(to, "fc/b", SPOTTER_FLAG_NONE, SPOTTER_F32, &it->b, &it->grad_b, 0, NULL);
    spotter_show_tensor(to, "x", SPOTTER_ROLE_INPUT, SPOTTER_FLAG_NONE, SPOTTER_F32, it->x, 2, batch);
    spotter_show_tensor(to, "y", SPOTTER_ROLE_LABEL, SPOTTER_FLAG_NONE, SPOTTER_F32, it->y, 1, rows);
}
static void show_nonsense(void* user, spotter_parameters* to) {
    static const spotter_uint64 wide[1] = {in};
    net* it = (net*)user;
    spotter_show_parameter(to, NULL, SPOTTER_FLAG_NONE, SPOTTER_F32, it->w, it->grad_w, 1, wide);
    spotter_show_parameter(to, "fc/w", SPOTTER_FLAG_NONE, 99, it->w, it->grad_w, 1, wide);
    spotter_show_parameter(to, "fc/v", SPOTTER_FLAG_NONE, SPOTTER_F32, (char*)it->w + 1, it->grad_w, 1, wide);
    spotter_show_tensor(to, NULL, SPOTTER_ROLE_INPUT, SPOTTER_FLAG_NONE, SPOTTER_F32, NULL, 0, NULL);
    spotter_show_parameter(NULL, "fc/w", SPOTTER_FLAG_NONE, SPOTTER_F32, it->w, it->grad_w, 1, wide);
    spotter_show_tensor(NULL, "x", 0, 0, 0, NULL, 0, NULL);
}

/* One invalid tensor after the other: which, counted from 0, and the error that is reported. */
static int refused_tensor = 0;
static const int refused_errors[] = {SPOTTER_NULL_POINTER, SPOTTER_RANK_TOO_DEEP, SPOTTER_NULL_POINTER,
                                     SPOTTER_RANK_TOO_DEEP, SPOTTER_BAD_CONFIG,   SPOTTER_BAD_CONFIG};
static void show_one_refused(void* user, spotter_parameters* to) {
    static const spotter_uint64 wide[1] = {in}, deep[9] = {in, 1, 1, 1, 1, 1, 1, 1, 1};
    net* it = (net*)user;
    show(user, to);
    switch (refused_tensor) {
        case 0: spotter_show_parameter(to, "fc/v", 0, SPOTTER_F32, NULL, it->grad_w, 1, wide); break;
        case 1: spotter_show_parameter(to, "fc/v", 0, SPOTTER_F32, it->w, it->grad_w, 9, deep); break;
        case 2: spotter_show_tensor(to, "v", SPOTTER_ROLE_INPUT, 0, SPOTTER_F32, NULL, 1, wide); break;
        case 3: spotter_show_tensor(to, "v", SPOTTER_ROLE_INPUT, 0, SPOTTER_F32, it->w, 9, deep); break;
        case 4: spotter_show_tensor(to, "v", 99, 0, SPOTTER_F32, it->w, 1, wide); break;
        default: spotter_show_parameter(to, "fc/v", -1, SPOTTER_F32, it->w, it->grad_w, 1, wide);
    }
}

static spotter_loop loop_of(net* it) {
    spotter_loop loop;
    memset(&loop, 0, sizeof loop);
    loop.user = it, loop.show = show, loop.backward = backward, loop.update = update;
    return loop;
}
/* The rule of the first finding, and what `watch` says with it. */
static int first_is(spotter_hook* watch, const char* rule) {
    spotter_finding found;
    char line[1024];
    if (!spotter_get_finding(watch, 0, &found)) { return rule == NULL; }
    spotter_describe_finding(watch, 0, line, sizeof line);
    if (rule == NULL || strcmp(found.rule, rule) != 0) { fprintf(stderr, "%s\n", line); }
    return rule != NULL && strcmp(found.rule, rule) == 0 && strstr(line, rule) != NULL;
}

int main(void) {
    net it, before;
    spotter_loop loop;
    spotter_verdict verdict;
    spotter_health health;
    spotter_hook* watch = create_everything(NULL);

    make(&it), loop = loop_of(&it);
    it.grad_b = 7; /* of a step before */
    before = it;
    verdict = spotter_preflight(watch, &loop);
    CHECK(verdict.alarm == 0 && verdict.decision == SPOTTER_PROCEED);
    CHECK(memcmp(it.w, before.w, sizeof it.w) == 0 && it.b == before.b && it.grad_b == before.grad_b);
    CHECK(memcmp(it.x, before.x, sizeof it.x) == 0 && memcmp(it.y, before.y, sizeof it.y) == 0);

    it.rate = -it.rate;
    verdict = spotter_preflight(watch, &loop);
    CHECK(verdict.alarm == 1 && verdict.decision == SPOTTER_STOP && verdict.findings >= 1);
    CHECK(first_is(watch, "update_direction"));
    spotter_begin(watch, SPOTTER_TRAIN, 0);
    verdict = spotter_end(watch); /* reported once more */
    CHECK(verdict.decision == SPOTTER_STOP && first_is(watch, "update_direction"));

    it.rate = -it.rate, it.sign = -1;
    CHECK(spotter_preflight(NULL, &loop).decision == SPOTTER_STOP);
    verdict = spotter_preflight(watch, &loop);
    CHECK(first_is(watch, "negated_gradient"));

    verdict = spotter_preflight(watch, NULL);
    CHECK(verdict.alarm == 1 && first_is(watch, "nothing_to_examine"));
    spotter_get_health(watch, &health);
    CHECK(health.error == SPOTTER_OK);
    loop.show = show_nonsense;
    verdict = spotter_preflight(watch, &loop);
    CHECK(verdict.alarm == 1 && first_is(watch, "nothing_to_examine"));
    spotter_get_health(watch, &health);
    CHECK(health.refused > 0 && health.error == SPOTTER_NO_SUCH_NAME);
    spotter_destroy(watch);

    it.sign = 1, loop.show = show_one_refused;
    for (refused_tensor = 0; refused_tensor < 6; ++refused_tensor) {
        watch = create_everything(NULL);
        (void)spotter_preflight(watch, &loop);
        spotter_get_health(watch, &health);
        CHECK(health.refused > 0 && (int)health.error == refused_errors[refused_tensor]);
        spotter_destroy(watch);
        (void)spotter_preflight(NULL, &loop);
    }
    return failures == 0 ? 0 : 1;
}
