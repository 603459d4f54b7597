/* SPDX-License-Identifier: Apache-2.0 */
/* A training loop in plain C: a perceptron with one hidden layer learns XOR from a table of its own, and is watched. With any
 * argument its learning rate is far too high; then it is stopped, and ends with 3. */
#include <spotter/c/spotter.h>

#include <math.h>
#include <stdio.h>

#define HIDDEN 8
#define BATCH 4

static float w1[2][HIDDEN], b1[HIDDEN], w2[HIDDEN], b2;                 /* parameters */
static float grad_w1[2][HIDDEN], grad_b1[HIDDEN], grad_w2[HIDDEN], grad_b2; /* their gradients */
static float hidden[BATCH][HIDDEN];

static const float inputs[BATCH][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
static const float targets[BATCH] = {0, 1, 1, 0};

static void start(void) {
    unsigned long seed = 7;
    int i, k;
    for (k = 0; k < HIDDEN; ++k) {
        for (i = 0; i < 3; ++i) {
            seed = (seed * 1103515245UL + 12345UL) & 0x7fffffffUL;
            *(i < 2 ? &w1[i][k] : &w2[k]) = (float)(seed >> 16) / 16384.0f - 1.0f;
        }
    }
}

/* One pass over the table; the mean squared error. */
static float forward_backward(void) {
    float loss = 0;
    int r, i, k;
    for (k = 0; k < HIDDEN; ++k) {
        grad_w1[0][k] = grad_w1[1][k] = grad_b1[k] = grad_w2[k] = 0;
    }
    grad_b2 = 0;
    for (r = 0; r < BATCH; ++r) {
        float output = b2, slope;
        for (k = 0; k < HIDDEN; ++k) {
            hidden[r][k] = (float)tanh((double)(inputs[r][0] * w1[0][k] + inputs[r][1] * w1[1][k] + b1[k]));
            output += hidden[r][k] * w2[k];
        }
        loss += (output - targets[r]) * (output - targets[r]) / BATCH;
        slope = 2 * (output - targets[r]) / BATCH;
        grad_b2 += slope;
        for (k = 0; k < HIDDEN; ++k) {
            float back = slope * w2[k] * (1 - hidden[r][k] * hidden[r][k]);
            grad_w2[k] += slope * hidden[r][k];
            grad_b1[k] += back;
            for (i = 0; i < 2; ++i) {
                grad_w1[i][k] += back * inputs[r][i];
            }
        }
    }
    return loss;
}

static void update(float rate) {
    int k;
    for (k = 0; k < HIDDEN; ++k) {
        w1[0][k] -= rate * grad_w1[0][k];
        w1[1][k] -= rate * grad_w1[1][k];
        b1[k] -= rate * grad_b1[k];
        w2[k] -= rate * grad_w2[k];
    }
    b2 -= rate * grad_b2;
}

/* Hands over what a step has made. Returns what to do with it. */
static spotter_decision watch_step(spotter_hook* watch, unsigned long step, float loss) {
    static const spotter_uint64 w1_shape[2] = {2, HIDDEN}, w2_shape[2] = {HIDDEN, 1}, hidden_shape[2] = {BATCH, HIDDEN};
    spotter_verdict verdict;
    char line[1024];
    size_t i;

    spotter_begin(watch, SPOTTER_TRAIN, step);
    spotter_observe_f32(watch, "fc1/w", w1[0], 2, w1_shape);
    spotter_observe_f32(watch, "fc2/w", w2, 2, w2_shape);
    spotter_observe_as(watch, "act/fc1", SPOTTER_ROLE_ACTIVATION, SPOTTER_ACTIVATED_BY(SPOTTER_ACTIVATION_TANH), SPOTTER_F32, hidden[0], 2,
                       hidden_shape, NULL);
    spotter_observe_f32(watch, "loss", &loss, 0, NULL);
    spotter_observe_f32(watch, "grad/fc1/w", grad_w1[0], 2, w1_shape);
    spotter_observe_f32(watch, "grad/fc2/w", grad_w2, 2, w2_shape);
    verdict = spotter_end(watch);
    for (i = 0; i < verdict.findings; ++i) {
        spotter_describe_finding(watch, i, line, sizeof line);
        printf("%s\n", line);
    }
    return verdict.decision;
}

int main(int argc, char** argv) {
    float const rate = argc > 1 ? 500.0f : 0.1f;
    spotter_hook* watch = spotter_create(argc > 1 ? "runs/plain_c_broken" : "runs/plain_c");
    spotter_decision decision = SPOTTER_PROCEED;
    spotter_health health;
    float loss = 0;
    unsigned long step;

    (void)argv;
    start();
    spotter_scalar_f32(watch, "hyperparameters/rate", rate);
    for (step = 0; step < 3000; ++step) {
        loss = forward_backward();
        decision = watch_step(watch, step, loss);
        if (decision == SPOTTER_STOP) {
            break;
        }
        if (decision == SPOTTER_PROCEED) {
            update(rate);
        }
    }
    spotter_finish(watch);
    spotter_get_health(watch, &health);
    printf("%lu steps, loss %g, record in %s (%s)\n", (unsigned long)health.steps, (double)loss, spotter_path(watch),
           health.error == SPOTTER_OK ? "nothing amiss" : health.what);
    spotter_destroy(watch);
    if (decision == SPOTTER_STOP) {
        return 3;
    }
    return health.error == SPOTTER_OK && loss < 0.01f ? 0 : 1;
}
