/* SPDX-License-Identifier: Apache-2.0 */
/* A training loop in C89 that is stopped by a NaN, before it reaches the weights. */
#include "read_back.h"

#include <spotter/c/spotter.h>

#include <stdio.h>
#include <string.h>

#define INPUTS 4
#define STEPS 100
#define BAD_STEP 40

static int failures = 0;
#define CHECK(what) \
    do { \
        if (!(what)) { \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
            ++failures; \
        } \
    } while (0)

static float weights[INPUTS], gradient[INPUTS], input[INPUTS];
static unsigned long seed = 1;

static float uniform(void) {
    seed = (seed * 1103515245UL + 12345UL) & 0x7fffffffUL;
    return (float)(seed >> 8) / (float)(0x7fffffffUL >> 8) - 0.5f;
}

/* Learns the sum of its inputs. */
static float forward_backward(void) {
    float gap = 0;
    int i;
    for (i = 0; i < INPUTS; ++i) {
        input[i] = uniform();
        gap += (weights[i] - 1.0f) * input[i];
    }
    for (i = 0; i < INPUTS; ++i) {
        gradient[i] = 2.0f * gap * input[i];
    }
    return gap * gap;
}

int main(void) {
    static const unsigned char bits_of_nan[4] = {0x00, 0x00, 0xc0, 0x7f};
    const spotter_uint64 shape[2] = {1, INPUTS};
    spotter_hook* watch = spotter_create("runs/loop");
    spotter_verdict verdict;
    spotter_finding found;
    spotter_health health;
    char line[1024];
    char path[256];
    float last_weight;
    unsigned long step;
    int i;

    CHECK(watch != NULL);
    CHECK(spotter_path(watch)[0] == '/' && strstr(spotter_path(watch), "/runs/loop") != NULL);
    spotter_scalar(watch, "learning_rate", 0.5);
    for (step = 0; step < STEPS; ++step) {
        float loss;
        spotter_begin_section(watch, "forward");
        loss = forward_backward();
        spotter_end_section(watch, "forward");
        if (step == BAD_STEP) {
            memcpy(&gradient[2], bits_of_nan, sizeof bits_of_nan);
        }
        spotter_begin(watch, SPOTTER_TRAIN, step);
        spotter_observe_f32(watch, "fc1/w", weights, 2, shape);
        spotter_observe_f32(watch, "loss", &loss, 0, NULL);
        spotter_observe_f32(watch, "grad/fc1/w", gradient, 2, shape);
        spotter_scalar_i64(watch, "examples", (spotter_int64)step * 32);
        verdict = spotter_end(watch);
        if (verdict.decision == SPOTTER_STOP) {
            break;
        }
        for (i = 0; i < INPUTS; ++i) {
            weights[i] -= 0.5f * gradient[i];
        }
    }
    CHECK(step == BAD_STEP);
    CHECK(verdict.alarm == 1);
    CHECK(verdict.findings == 2); /* exploding_gradient speaks of a value that is not finite, too */
    CHECK(verdict.left_out == 0);
    CHECK(spotter_get_finding(watch, verdict.findings, &found) == 0);
    CHECK(spotter_get_finding(watch, 0, &found) == 1);
    CHECK(strcmp(found.rule, "non_finite") == 0);
    CHECK(strcmp(found.tensor, "grad/fc1/w") == 0);
    CHECK(strcmp(found.relation, ">") == 0);
    CHECK(found.severity == SPOTTER_SEVERE && found.decision == SPOTTER_STOP);
    CHECK(found.mode == SPOTTER_TRAIN && found.index == BAD_STEP);
    CHECK(found.measured == 1 && found.threshold == 0 && found.others == 0);
    CHECK(strstr(found.detail, "index 2") != NULL);
    CHECK(found.reason[0] != 0 && found.remedy[0] != 0);
    CHECK(spotter_describe_finding(watch, 0, line, sizeof line) == strlen(line));
    printf("%s\n", line);
    CHECK(strstr(line, "error: non_finite: ") == line && strstr(line, "train(40), \"grad/fc1/w\"") != NULL);
    CHECK(strstr(line, "[stop]: ") != NULL && strstr(line, found.remedy) != NULL);

    last_weight = weights[1];
    spotter_finish(watch);
    CHECK(spotter_get_health(watch, &health) == SPOTTER_OK);
    CHECK(health.error == SPOTTER_OK && health.what[0] == 0);
    CHECK(health.steps == BAD_STEP + 1);
    CHECK(health.declared >= 5); /* a gradient once more when its weight is known */
    CHECK(health.refused == 0 && health.dropped == 0);
    CHECK(health.stored > 0 && health.bytes > 0);
    strcpy(path, spotter_path(watch));
    spotter_destroy(watch);

    CHECK(recorded_steps(path) == BAD_STEP + 1);
    CHECK(recorded(path, "fc1/w", BAD_STEP, 1) == (double)last_weight);
    CHECK(recorded(path, "fc1/w", 0, 0) == 0);
    CHECK(recorded(path, "loss", 7, 0) >= 0);
    CHECK(recorded(path, "examples", 7, 0) == 7 * 32);
    CHECK(recorded(path, "time/forward", 7, 0) >= 0 && recorded(path, "time/forward", 7, 0) < 60);
    CHECK(!recorded_failure(path));
    return failures != 0;
}
