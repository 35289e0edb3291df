// SPDX-License-Identifier: Apache-2.0
// The record as a table for people.
#include "host/common/name.h"
#include "host/common/stats.h"
#include "json.h"
#include "write.h"

#include <math.h>
#include <string.h>

static const cJSON *get(const cJSON *o, const char *name)
{
    return o ? cJSON_GetObjectItemCaseSensitive(o, name) : NULL;
}

static double number(const cJSON *o, const char *name)
{
    const cJSON *n = get(o, name);
    return n && cJSON_IsNumber(n) ? n->valuedouble : NAN;
}

static const char *text(const cJSON *o, const char *name)
{
    const cJSON *s = get(o, name);
    return s && cJSON_IsString(s) ? s->valuestring : "";
}

// 4 digits, right in `width`; nothing for what is not there.
static void cell(FILE *out, int width, double value)
{
    char number_text[32] = "";
    if (isfinite(value)) {
        const double size = fabs(value);
        const int digits = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : size >= 0.1 ? 4 : 5;
        snprintf(number_text, sizeof number_text, "%.*f", value == 0 ? 0 : digits, value);
    }
    fprintf(out, "%*s", width, number_text);
}

static void share(FILE *out, int width, double value)
{
    if (isfinite(value))
        fprintf(out, "%*.1f%%", width - 1, value * 100);
    else
        fprintf(out, "%*s", width, "");
}

static double stat_of(const cJSON *o, const char *name, const char *what)
{
    return number(get(o, name), what);
}

static void head(FILE *out, const cJSON *document, const cJSON *run)
{
    const cJSON *device = cJSON_GetArrayItem(get(document, "devices"), (int)number(run, "device"));
    const cJSON *ceilings = get(device, "ceilings");
    fprintf(out, "\nprofile of %s", text(run, "op"));
    if (get(run, "matrix"))
        fprintf(out, " of %s: %.0f x %.0f, %.0f entries, %s", bench_text_line(text(run, "matrix")).text,
                number(run, "m"), number(run, "n"), number(run, "nnz"), text(run, "type"));
    fputc('\n', out);
    if (get(run, "backend"))
        fprintf(out, "  %s %s%s%s%s, %s\n", text(run, "backend"), text(run, "algo"), get(run, "chosen") ? " (" : "",
                text(run, "chosen"), get(run, "chosen") ? ")" : "", text(run, "library"));
    if (device)
        fprintf(out, "  on %.60s%s%.30s", text(device, "name"), get(device, "driver") ? ", driver " : "",
                text(device, "driver"));
    if (ceilings)
        fprintf(out, "; copy %.4g GB/s, triad %.4g GB/s", number(ceilings, "copy_gbps"),
                number(ceilings, "triad_gbps"));
    if (get(ceilings, "launch_us"))
        fprintf(out, ", empty kernel %.3g us (%.3g us in a row)", stat_of(ceilings, "launch_us", "median"),
                stat_of(ceilings, "queue_us", "median"));
    fprintf(out, "\n  end to end %.4g ms (%.4g .. %.4g), noise %.1f %%%s, %.0f repetition%s\n",
            stat_of(run, "end_to_end_ms", "median"), stat_of(run, "end_to_end_ms", "min"),
            stat_of(run, "end_to_end_ms", "max"), stat_of(run, "end_to_end_ms", "noise") * 100,
            bench_noisy(stat_of(run, "end_to_end_ms", "noise")) ? "!" : "", number(run, "reps"),
            number(run, "reps") == 1 ? "" : "s");
}

static void count_cell(FILE *out, int width, double value)
{
    if (isfinite(value))
        fprintf(out, "%*.0f", width, value);
    else
        fprintf(out, "%*s", width, "");
}

static void phases(FILE *out, const cJSON *run)
{
    const cJSON *bytes = get(run, "bytes"), *phase;
    double sum = 0;
    fprintf(out, "  %-9s%10s %7s%10s%10s%10s%10s%13s%13s%8s\n", "phase", "ms", "share", "min ms", "median ms", "max ms",
            "device ms", "bytes", "least bytes", "GB/s");
    cJSON_ArrayForEach(phase, get(run, "phases"))
    {
        const char *name = text(phase, "name");
        sum += number(phase, "middle_ms");
        fprintf(out, "  %-9s", name);
        cell(out, 10, number(phase, "middle_ms"));
        share(out, 8, number(phase, "share"));
        cell(out, 10, stat_of(phase, "ms", "min"));
        cell(out, 10, stat_of(phase, "ms", "median"));
        cell(out, 10, stat_of(phase, "ms", "max"));
        cell(out, 10, stat_of(phase, "device_ms", "median"));
        count_cell(out, 13, number(phase, "bytes"));
        count_cell(out, 13,
                   !strcmp(name, "write")  ? number(bytes, "write_min")
                   : !strcmp(name, "read") ? number(bytes, "read_min")
                                           : NAN);
        cell(out, 8, number(phase, "gbps"));
        fputc('\n', out);
    }
    fprintf(out, "  %-9s", "sum");
    cell(out, 10, sum);
    fputs("  of the repetition in the middle; share, bytes are its own, the others over all\n", out);
}

static void sizes(FILE *out, int width, const cJSON *list)
{
    char all[64] = "";
    size_t used = 0;
    const cJSON *n;
    cJSON_ArrayForEach(n, list) used +=
        (size_t)snprintf(all + used, sizeof all - used, used ? "x%.0f" : "%.0f", n->valuedouble);
    fprintf(out, "%*s", width, all);
}

// What of it is known.
static void resources(FILE *out, const cJSON *k)
{
    const cJSON *occupancy = get(k, "occupancy");
    if (!get(k, "registers"))
        return;
    fprintf(out, "  %-24s %.0f registers", "", number(k, "registers"));
    if (get(k, "spill_bytes"))
        fprintf(out, ", %.0f bytes spilled", number(k, "spill_bytes"));
    if (get(k, "local_bytes"))
        fprintf(out, ", %.0f bytes local", number(k, "local_bytes"));
    if (get(occupancy, "waves"))
        fprintf(out, "; %.0f of %.0f warps (%s)", number(occupancy, "waves"), number(occupancy, "waves_max"),
                text(occupancy, "limit"));
    fputc('\n', out);
}

static void kernels(FILE *out, const cJSON *run)
{
    const cJSON *k;
    if (!cJSON_GetArraySize(get(run, "kernels")))
        return;
    fprintf(out, "  %-24s %-8s%6s%10s %7s%7s %11s %5s %9s%7s%9s\n", "kernel", "phase", "runs", "median ms", "share",
            "noise", "global", "wg", "GB/s of", "roof", "wait us");
    cJSON_ArrayForEach(k, get(run, "kernels"))
    {
        const double roof = number(k, "copy_share");
        fprintf(out, "  %-24.24s %-8s", text(k, "name"), text(k, "phase"));
        cell(out, 6, number(k, "launches"));
        cell(out, 10, stat_of(k, "ms", "median"));
        share(out, 8, number(k, "share"));
        share(out, 7, stat_of(k, "ms", "noise"));
        fputc(bench_noisy(stat_of(k, "ms", "noise")) ? '!' : ' ', out);
        sizes(out, 11, get(k, "global"));
        fputc(' ', out);
        sizes(out, 5, get(k, "wg"));
        cell(out, 8, number(k, "gbps"));
        fprintf(out, " %c", *text(k, "gbps_of") ? *text(k, "gbps_of") : ' ');
        share(out, 7, *text(k, "gbps_of") == 'b' && roof > 1 ? NAN : roof);
        cell(out, 9, stat_of(k, "queue_us", "median") + stat_of(k, "submit_us", "median"));
        fputc('\n', out);
        resources(out, k);
    }
    fputs("  GB/s of m: the least bytes of the operation; b: of the buffers bound, once. wait: queued to start\n", out);
}

int profile_text_write(FILE *out, const cJSON *document, const cJSON *run)
{
    const cJSON *roof = get(run, "roofline"), *clock = get(run, "clock"), *kernel;
    if (!get(run, "end_to_end_ms")) {
        fprintf(out, "\nprofile of %s, %s %s: %s%s\n", text(run, "op"), text(run, "backend"), text(run, "algo"),
                get(run, "skipped") ? "skipped: " : "WRONG or failed: ",
                get(run, "skipped") ? text(run, "skipped") : text(run, "error"));
        return !ferror(out);
    }
    head(out, document, run);
    phases(out, run);
    kernels(out, run);
    int noisy = bench_noisy(stat_of(run, "end_to_end_ms", "noise"));
    cJSON_ArrayForEach(kernel, get(run, "kernels")) noisy |= bench_noisy(stat_of(kernel, "ms", "noise"));
    if (noisy)
        fputs("  " BENCH_NOISE_TEXT "\n", out);
    if (get(run, "gap_us"))
        fprintf(out, "  gaps between kernels %.4g us; %.0f launches\n", stat_of(run, "gap_us", "median"),
                number(run, "launches"));
    if (roof)
        fprintf(out, "  roof: %.0f bytes at least, %.4g GB/s", number(roof, "bytes"), number(roof, "gbps"));
    if (get(roof, "copy_share"))
        fprintf(out, ": %.1f %% of a copy, %.1f %% of the triad", number(roof, "copy_share") * 100,
                number(roof, "triad_share") * 100);
    if (get(roof, "floor_ms"))
        fprintf(out, "; floor %.4g ms", number(roof, "floor_ms"));
    if (roof)
        fputc('\n', out);
    if (get(run, "plain_ms"))
        fprintf(out, "  unrecorded %.4g ms end to end (%.4g .. %.4g): recording costs %.1f %%\n",
                stat_of(run, "plain_ms", "median"), stat_of(run, "plain_ms", "min"), stat_of(run, "plain_ms", "max"),
                (stat_of(run, "end_to_end_ms", "median") / stat_of(run, "plain_ms", "median") - 1) * 100);
    if (get(clock, "error_ns"))
        fprintf(out, "  clock by %s, within %.3g us; %.0f of %.0f commands outside of their calls\n",
                text(clock, "method"), number(clock, "error_ns") * 1e-3, number(clock, "outside"),
                number(clock, "checked"));
    return !ferror(out);
}
