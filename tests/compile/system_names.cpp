// SPDX-License-Identifier: Apache-2.0
// spotter does not use names that POSIX or the C library takes. After `using namespace spotter`, every name of spotter
// that a program writes means spotter's, whichever system headers are included. The exceptions are <glob.h> and glibc's
// <error.h>: their functions `glob` and `error` require writing spotter::glob and spotter::error (docs/hook.md).
#include <aio.h>
#include <arpa/inet.h>
#include <assert.h>
#include <cpio.h>
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <float.h>
#include <fmtmsg.h>
#include <fnmatch.h>
#include <ftw.h>
#include <grp.h>
#include <iconv.h>
#include <inttypes.h>
#include <langinfo.h>
#include <libgen.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <monetary.h>
#include <mqueue.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nl_types.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <sched.h>
#include <search.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <syslog.h>
#include <tar.h>
#include <termios.h>
#include <time.h>
#include <ulimit.h>
#include <unistd.h>
#include <utime.h>
#include <utmpx.h>
#include <wchar.h>
#include <wctype.h>
#include <wordexp.h>
#if defined(__linux__) && defined(__GLIBC__)
#include <alloca.h>
#include <argp.h>
#include <argz.h>
#include <byteswap.h>
#include <elf.h>
#include <endian.h>
#include <envz.h>
#include <err.h>
#include <execinfo.h>
#include <features.h>
#include <fstab.h>
#include <fts.h>
#include <gconv.h>
#include <getopt.h>
#include <gshadow.h>
#include <ieee754.h>
#include <ifaddrs.h>
#include <libintl.h>
#include <link.h>
#include <malloc.h>
#include <mntent.h>
#include <net/route.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <paths.h>
#include <printf.h>
#include <pty.h>
#include <resolv.h>
#include <shadow.h>
#include <stdio_ext.h>
#include <sys/acct.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/gmon.h>
#include <sys/inotify.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/param.h>
#include <sys/personality.h>
#include <sys/poll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/quota.h>
#include <sys/random.h>
#include <sys/reboot.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/statfs.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/syslog.h>
#include <sys/timeb.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/ucontext.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <termio.h>
#include <ttyent.h>
#include <ucontext.h>
#include <utmp.h>
#include <values.h>
#endif

#include <spotter/control.hpp>
#include <spotter/file/posix.hpp>
#include <spotter/heal.hpp>
#include <spotter/hook.hpp>
#include <spotter/plan/dynamic_plan.hpp>
#include <spotter/preflight.hpp>
#include <spotter/response.hpp>
#include <spotter/rule/live_rules.hpp>
#include <spotter/rules.hpp>
#include <spotter/supervisor.hpp>
#include <spotter/workbench/parting.hpp>
#include <spotter/workbench/self_test.hpp>

using namespace spotter;

template <class...>
struct list {};
using types =
    list<activation_kind, all_zero, always, attention_collapse, attention_heads, attention_one_position,
         attention_similar_heads, append_lines, asked, batch_size, before, between, class_imbalance, confusion,
         constant_batch, cooldown, copying, coverage, cpu_bottleneck, data_wait, dataloader, gpu_memory_increase,
         io_bottleneck, load_balancing, low_gpu_utilization, low_precision_overflow, max_initialization_time,
         memory_leak, noisy_neighbour, pressure, step_outlier, dead_relu, dead_update_path, decision, delta, disk_sync,
         distribution, dormant_units, drain, drift, dtype, during, dynamic_plan, errc, every, evidence, existing,
         exploding_gradient, feature, feature_importance_overweight, file_mapping, file_system, finding, findings, flag,
         for_steps, fork_guard, from, gradient_not_cleared, gradient_spike, identity_activation, importances,
         initial_loss, input_not_normalized, loss_not_decreasing, loss_spike, low_feature_importance, mixed_precision,
         mode, name_list, named, never, non_finite, null_hook, observation, observer, opened_file, options, order,
         pending_responses, output_collapse, output_mismatch, outside_envelope, overfit, overflow, overtraining,
         path_text, poor_weight_initialization, posix_file_system, print_finding, question, raise_flag, rearm, relation,
         replica_divergence, ring_in, rl_constant_reward, rl_entropy_collapse, rl_explained_variance, rl_kl,
         rl_policy_ascends, role, run_command, run_end, run_info, running_mean, sampled, saturated_activation, selector,
         sentence, severity, shared_memory, similar_across_runs, stalled_training, statistic, step_alarm,
         step_time_outlier, stop_flag, stats_mask, straggler, summary, tensor_info, tensor_ref, tensor_table,
         tree_depth, truth, unchanged_tensor, underfit, unit_activity, update_direction, update_ratio_band,
         updates_too_small, vanishing_gradient, vitals, recording_workers, child_process, cure, adjust_loss_scale,
         clip_gradients, cure_effect, cure_reason, cure_report, heal_gauge, reinitialise_units, skip_batch, step_back,
         symptoms, treatment, warm_up_again, alteration, answer_state, control_verb, live_rules, outcome_of_fault,
         parting, parting_point, planted_fault, run_answer, run_request, self_test_result, fault_report, departure,
         healed, healing, launched, past_attempt, run_verdict, supervise_options, supervised_attempt>;

[[maybe_unused]] constexpr auto said = [] {
    (void)l1;
    (void)l2;
    (void)maximum;
    (void)mean;
    (void)mean_abs;
    (void)minimum;
    (void)nonfinite;
    (void)once;
    (void)payload;
    (void)proceed;
    (void)product;
    (void)quantiles;
    (void)histogram;
    (void)shape;
    (void)skip_update;
    (void)stddev;
    (void)stop;
    (void)sum;
    (void)variance;
    (void)zero_fraction;
    (void)zeros;
    (void)no_tensor;
    (void)max_rank;
    (void)mode_count;
    return 0;
}();
[[maybe_unused]] constexpr auto reported = [](step_alarm const& found, finding const&, step_id) {
    return found.size();
};
[[maybe_unused]] constexpr auto held = [](opened_file) {};

int main() {
    constexpr auto rules = (any("grad/*", l2 > 1e3) || all("*", mean_abs < 1e-7)) | for_steps{3} | rearm{2};
    stop_flag flag;
    hook watch{plan{collection{"all", "*", every{10} && during{mode::train}, payload}},
               on(rules, stop, raise_flag{flag})};
    step_alarm const found = watch.step(train(0), "x"_t = 1.0);
    result<int> const one{1};
    text<8> const letters{"letters"};
    return found.decision() == decision::stop || !one || letters.empty() ? 1 : 0;
}
