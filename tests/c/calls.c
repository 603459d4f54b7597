/* SPDX-License-Identifier: Apache-2.0 */
/* Each function with what it must take, and with what it must refuse. */
#include "read_back.h"

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

/* The first error that `call` leads to, with nothing but that call in a step. */
#define ERROR_OF(call) \
    do { \
        watch = create_everything(NULL); \
        spotter_begin(watch, SPOTTER_TRAIN, 0); \
        call; \
        spotter_end(watch); \
        spotter_get_health(watch, &health); \
        spotter_destroy(watch); \
    } while (0)

static void no_hook_is_no_harm(void) {
    spotter_health health;
    spotter_finding found;
    float value = 1;
    char line[8] = "x";
    spotter_begin(NULL, SPOTTER_TRAIN, 0);
    spotter_observe(NULL, "x", SPOTTER_F32, &value, 0, NULL);
    spotter_observe_f32(NULL, "x", &value, 0, NULL);
    spotter_observe_f64(NULL, "x", NULL, 0, NULL);
    spotter_observe_as(NULL, "x", SPOTTER_ROLE_LOSS, 0, SPOTTER_F32, &value, 0, NULL, NULL);
    spotter_scalar(NULL, "x", 1);
    spotter_scalar_f32(NULL, "x", 1);
    spotter_scalar_i64(NULL, "x", 1);
    spotter_scalar_text(NULL, "x", "y");
    spotter_scalar_at(NULL, "x", 1, 2);
    spotter_scalar_f32_at(NULL, "x", 1, 2);
    spotter_scalar_i64_at(NULL, "x", 1, 2);
    spotter_scalar_text_at(NULL, "x", "y", 2);
    spotter_begin_section(NULL, "x");
    spotter_end_section(NULL, NULL);
    CHECK(spotter_end(NULL).decision == SPOTTER_PROCEED);
    CHECK(spotter_end(NULL).findings == 0);
    CHECK(spotter_get_finding(NULL, 0, &found) == 0);
    CHECK(spotter_describe_finding(NULL, 0, line, sizeof line) == 0 && line[0] == 0);
    CHECK(spotter_describe_finding(NULL, 0, NULL, 0) == 0);
    spotter_flush(NULL);
    spotter_poll(NULL);
    spotter_fail(NULL, "x");
    spotter_finish(NULL);
    spotter_destroy(NULL);
    CHECK(strcmp(spotter_path(NULL), "") == 0);
    CHECK(spotter_get_health(NULL, &health) == SPOTTER_OUT_OF_MEMORY);
    CHECK(health.what[0] != 0 && health.steps == 0);
}

static void names_are_looked_up_once(void) {
    const spotter_uint64 stacked[3] = {3, 2, 2};
    const spotter_uint64 pair[1] = {2};
    const spotter_tensor none = {NULL};
    float values[12];
    spotter_tensor tensor, layers[4];
    spotter_health health;
    spotter_hook* watch = create_everything("runs/handles");
    char line[1024];
    unsigned long i;
    for (i = 0; i < 12; ++i) {
        values[i] = (float)i;
    }
    tensor = spotter_get_tensor(watch, "theta", SPOTTER_ROLE_WEIGHT, 0);
    spotter_get_tensors(watch, "block/{}/w", 4, SPOTTER_ROLE_GUESS, 0, layers);
    CHECK(tensor.it != NULL && layers[3].it != NULL && layers[2].it != layers[3].it);
    CHECK(layers[1].it == spotter_get_tensor(watch, "block/1/w", SPOTTER_ROLE_GUESS, 0).it);
    spotter_begin(watch, SPOTTER_TRAIN, 0);
    spotter_observe_tensor(watch, tensor, SPOTTER_F32, values + 3, 1, pair);
    spotter_observe_layers(watch, layers, 4, SPOTTER_F32, values, 3, stacked);
    spotter_scalar_tensor(watch, spotter_get_tensor(watch, "lr", SPOTTER_ROLE_GUESS, 0), 0.25);
    spotter_observe_tensor(watch, none, SPOTTER_F32, values, 1, pair);
    spotter_observe_layers(watch, NULL, 4, SPOTTER_F32, values, 3, stacked);
    spotter_observe_layers(watch, layers, 0, SPOTTER_F32, values, 3, stacked);
    spotter_end(watch);
    CHECK(spotter_get_health(watch, &health) == SPOTTER_OK && health.refused == 0);
    CHECK(spotter_describe_refused(watch, 0, line, sizeof line) == 0 && line[0] == 0);
    spotter_begin(watch, SPOTTER_TRAIN, 1);
    spotter_observe_layers(watch, layers, 4, SPOTTER_F32, NULL, 3, stacked);
    spotter_observe_tensor(watch, tensor, SPOTTER_F32, NULL, 1, pair);
    spotter_observe_layers(watch, layers, 4, 99, values, 3, stacked);
    spotter_end(watch);
    CHECK(spotter_get_health(watch, &health) == SPOTTER_NULL_POINTER && health.refused == 3);
    CHECK(spotter_describe_refused(watch, 0, line, sizeof line) == strlen(line));
    CHECK(strstr(line, "\"theta\" is a null pointer") == line);
    CHECK(spotter_describe_refused(watch, 1, line, sizeof line) > 0 && strstr(line, "\"block/0/w\"") == line);
    CHECK(spotter_describe_refused(watch, 2, line, sizeof line) == 0);
    spotter_destroy(watch);
    CHECK(recorded("runs/handles", "theta", 0, 1) == 4);
    CHECK(recorded("runs/handles", "lr", 0, 0) == 0.25);
    for (i = 0; i < 3; ++i) {
        CHECK(recorded("runs/handles", i == 0 ? "block/0/w" : i == 1 ? "block/1/w" : "block/2/w", 0, 3) == (double)(4 * i + 3));
    }
    CHECK(recorded("runs/handles", "block/3/w", 0, 0) == -1e300);
    CHECK(spotter_get_tensor(NULL, "x", 0, 0).it == NULL);
    spotter_get_tensors(NULL, "x", 2, 0, 0, layers);
    CHECK(layers[0].it == NULL && layers[1].it == NULL);
    spotter_observe_tensor(NULL, tensor, SPOTTER_F32, values, 1, pair);
    spotter_observe_layers(NULL, layers, 2, SPOTTER_F32, values, 3, stacked);
    spotter_scalar_tensor(NULL, tensor, 1);
    CHECK(spotter_describe_refused(NULL, 0, line, sizeof line) == 0);
    watch = create_everything(NULL);
    CHECK(spotter_get_tensor(watch, NULL, SPOTTER_ROLE_GUESS, 0).it == NULL);
    CHECK(spotter_get_tensor(watch, "x", 99, 0).it == NULL);
    spotter_get_tensors(watch, NULL, 2, SPOTTER_ROLE_GUESS, 0, layers);
    CHECK(layers[0].it == NULL);
    CHECK(spotter_get_health(watch, &health) == SPOTTER_NO_SUCH_NAME && health.refused == 3);
    spotter_destroy(watch);
}

static void refusals_have_names(void) {
    const spotter_uint64 deep[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const spotter_uint64 vast[2] = {3000000000UL, 3000000000UL};
    const spotter_uint64 three[1] = {3};
    const spotter_uint64 none[2] = {0, 5};
    const spotter_uint64 nowhere[3] = {3000000000UL, 0, 3000000000UL};
    const spotter_uint64 negative[1] = {(spotter_uint64)-1};
    const float values[3] = {1, 2, 3};
    spotter_hook* watch;
    spotter_health health;

    ERROR_OF(spotter_observe_f32(watch, "x", values, 1, three));
    CHECK(health.error == SPOTTER_OK && health.refused == 0 && health.observed == 1);
    ERROR_OF(spotter_observe_f32(watch, "x", NULL, 2, none));
    CHECK(health.error == SPOTTER_OK && health.refused == 0);
    ERROR_OF(spotter_observe_f32(watch, "x", NULL, 3, nowhere));
    CHECK(health.error == SPOTTER_OK && health.refused == 0);
    ERROR_OF(spotter_observe_f32(watch, "x", values, 1, negative));
    CHECK(health.error == SPOTTER_NO_SHAPE);
    ERROR_OF(spotter_observe_f32(watch, NULL, values, 1, three));
    CHECK(health.error == SPOTTER_NO_SUCH_NAME && health.refused == 1);
    ERROR_OF(spotter_scalar(watch, NULL, 1));
    CHECK(health.error == SPOTTER_NO_SUCH_NAME && health.refused == 1);
    ERROR_OF(spotter_scalar_text(watch, "x", NULL));
    CHECK(health.error == SPOTTER_OK && health.refused == 0);
    ERROR_OF(spotter_observe_f32(watch, "x", NULL, 1, three));
    CHECK(health.error == SPOTTER_NULL_POINTER && strstr(health.what, "\"x\" is a null pointer") != NULL);
    ERROR_OF(spotter_observe_f32(watch, "x", values, 1, NULL));
    CHECK(health.error == SPOTTER_NO_SHAPE);
    ERROR_OF(spotter_observe_f32(watch, "x", values, -1, three));
    CHECK(health.error == SPOTTER_NO_SHAPE);
    ERROR_OF(spotter_observe_f32(watch, "x", values, 2, vast));
    CHECK(health.error == SPOTTER_NO_SHAPE);
    ERROR_OF(spotter_observe_f32(watch, "x", values, 9, deep));
    CHECK(health.error == SPOTTER_RANK_TOO_DEEP);
    ERROR_OF(spotter_observe_f32(watch, "x", values, 1000000, deep));
    CHECK(health.error == SPOTTER_RANK_TOO_DEEP);
    ERROR_OF(spotter_observe(watch, "x", 0, values, 1, three));
    CHECK(health.error == SPOTTER_WRONG_TYPE);
    ERROR_OF(spotter_observe(watch, "x", 18, values, 1, three));
    CHECK(health.error == SPOTTER_WRONG_TYPE);
    ERROR_OF(spotter_observe_as(watch, "x", 19, 0, SPOTTER_F32, values, 1, three, NULL));
    CHECK(health.error == SPOTTER_BAD_CONFIG);
    ERROR_OF(spotter_observe_as(watch, "x", SPOTTER_ROLE_GUESS, -1, SPOTTER_F32, values, 1, three, NULL));
    CHECK(health.error == SPOTTER_BAD_CONFIG);

    watch = create_everything(NULL);
    spotter_begin(watch, 3, 0);
    spotter_observe_f32(watch, "x", values, 1, three);
    spotter_get_health(watch, &health);
    CHECK(health.error == SPOTTER_BAD_CONFIG && health.refused == 2); /* the step, then what was in it */
    CHECK(spotter_end(watch).decision == SPOTTER_PROCEED);
    spotter_destroy(watch);
    watch = create_everything(NULL);
    spotter_observe_f32(watch, "x", values, 1, three);
    spotter_begin(watch, 3, 0);
    CHECK(spotter_get_health(watch, NULL) == SPOTTER_NO_STEP_OPEN); /* the first one stays */
    spotter_destroy(watch);

    watch = create_everything("/dev/null/run");
    CHECK(spotter_get_health(watch, &health) != SPOTTER_OK && health.what[0] != 0);
    CHECK(strcmp(spotter_path(watch), "") == 0);
    spotter_destroy(watch);
}

static void strides_are_followed(void) {
    const spotter_uint64 shape[2] = {2, 2};
    const spotter_int64 pitch[2] = {3 * sizeof(float), sizeof(float)};
    const spotter_int64 columns[2] = {sizeof(float), 2 * sizeof(float)};
    const spotter_int64 backwards[2] = {-2 * (spotter_int64)sizeof(float), sizeof(float)};
    const spotter_int64 odd[2] = {4, 2};
    const float values[6] = {0, 1, 2, 3, 4, 5};
    short shorts[5] = {10, 11, 12, 13, 14};
    unsigned char bytes[9];
    const char* const path = "runs/strides";
    spotter_hook* watch = create_everything(path);
    spotter_health health;

    memcpy(bytes + 1, shorts, 8);
    spotter_begin(watch, SPOTTER_TRAIN, 0);
    spotter_observe_as(watch, "pitch", SPOTTER_ROLE_WEIGHT, 0, SPOTTER_F32, values, 2, shape, pitch);
    spotter_observe_as(watch, "columns", SPOTTER_ROLE_GUESS, 0, SPOTTER_F32, values, 2, shape, columns);
    spotter_observe_as(watch, "backwards", SPOTTER_ROLE_GUESS, SPOTTER_BATCH_AXIS(1), SPOTTER_F32, values + 2, 2, shape, backwards);
    spotter_observe_as(watch, "odd", SPOTTER_ROLE_GUESS, 0, SPOTTER_I16, bytes + 1, 2, shape, odd);
    spotter_observe(watch, "unaligned", SPOTTER_I16, bytes + 1, 2, shape);
    spotter_observe(watch, "bytes", SPOTTER_U8, "AB", 1, shape);
    spotter_end(watch);
    spotter_poll(watch);
    spotter_flush(watch);
    CHECK(spotter_get_health(watch, &health) == SPOTTER_OK);
    CHECK(health.observed == 6 && health.stored == 6);
    spotter_destroy(watch);
    CHECK(recorded(path, "pitch", 0, 1) == 1 && recorded(path, "pitch", 0, 2) == 3 && recorded(path, "pitch", 0, 3) == 4);
    CHECK(recorded(path, "columns", 0, 1) == 2 && recorded(path, "columns", 0, 2) == 1);
    CHECK(recorded(path, "backwards", 0, 0) == 2 && recorded(path, "backwards", 0, 3) == 1);
    CHECK(recorded(path, "odd", 0, 1) == 11 && recorded(path, "odd", 0, 3) == 13);
    CHECK(recorded(path, "unaligned", 0, 3) == 13);
    CHECK(recorded(path, "bytes", 0, 1) == 66);
}

static void every_type_is_taken(void) {
    static const double values[64] = {0};
    const spotter_uint64 three[1] = {3};
    spotter_hook* watch = create_everything(NULL);
    spotter_health health;
    char name[8];
    int dtype;
    spotter_begin(watch, SPOTTER_PREDICT, 5);
    for (dtype = SPOTTER_BOOL; dtype <= SPOTTER_F8_E5M2; ++dtype) {
        sprintf(name, "t%d", dtype);
        spotter_observe(watch, name, dtype, values, 1, three);
    }
    spotter_end(watch);
    CHECK(spotter_get_health(watch, &health) == SPOTTER_OK && health.observed == 17);
    spotter_destroy(watch);
}

/* The defaults: spotter_create of defaults.cpp. */
static void the_default_rules_judge(void) {
    const spotter_uint64 many[2] = {2, 50};
    float values[100];
    char name[301];
    char line[2000];
    char start[11];
    spotter_finding found;
    spotter_verdict verdict;
    spotter_hook* watch = spotter_create(NULL);
    int i;
    for (i = 0; i < 100; ++i) {
        values[i] = 0;
    }
    memset(name, 'n', 300);
    name[300] = 0;
    for (i = 0; i < 3; ++i) {
        spotter_begin(watch, SPOTTER_TRAIN, (spotter_uint64)i);
        spotter_observe_as(watch, name, SPOTTER_ROLE_WEIGHT, 0, SPOTTER_F32, values, 2, many, NULL);
        verdict = spotter_end(watch);
    }
    CHECK(verdict.findings == 1 && verdict.alarm == 1 && verdict.decision == SPOTTER_PROCEED);
    CHECK(spotter_get_finding(watch, 0, &found) == 1);
    CHECK(strcmp(found.rule, "all_zero") == 0 && found.severity == SPOTTER_WARNING);
    CHECK(strlen(found.tensor) == sizeof found.tensor - 1); /* cut, and ended */
    CHECK(spotter_describe_finding(watch, 0, line, sizeof line) == strlen(line) && strstr(line, name) != NULL);
    CHECK(spotter_describe_finding(watch, 0, start, sizeof start) == strlen(line));
    CHECK(strcmp(start, "warning: a") == 0);
    spotter_finish(watch);
    spotter_finish(watch);
    CHECK(spotter_get_finding(watch, 0, &found) == 1);
    CHECK(strcmp(spotter_path(watch), "") == 0);
    spotter_destroy(watch);
}

static void numbers_have_names(void) {
    CHECK(strcmp(spotter_error_name(SPOTTER_OK), "none") == 0);
    CHECK(strcmp(spotter_error_name(SPOTTER_DISK_FULL), "disk_full") == 0);
    CHECK(strcmp(spotter_error_name(SPOTTER_USER_CODE_THREW), "user_code_threw") == 0);
    CHECK(strcmp(spotter_error_name(-1), "") == 0 && strcmp(spotter_error_name(1000), "") == 0);
    CHECK(strcmp(spotter_decision_name(SPOTTER_SKIP_UPDATE), "skip_update") == 0);
    CHECK(strcmp(spotter_severity_name(SPOTTER_SEVERE), "error") == 0);
    CHECK(strcmp(spotter_mode_name(SPOTTER_EVAL), "eval") == 0);
    CHECK(strchr(spotter_version(), '.') != NULL);
}

int main(void) {
    no_hook_is_no_harm();
    names_are_looked_up_once();
    refusals_have_names();
    strides_are_followed();
    every_type_is_taken();
    the_default_rules_judge();
    numbers_have_names();
    return failures != 0;
}
