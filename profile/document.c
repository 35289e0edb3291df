// SPDX-License-Identifier: Apache-2.0
// The part of the record that is not about commands: program, host, devices.
#include "calls.h"
#include "json.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void processor_name(char *out, size_t size)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    snprintf(out, size, "host");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "model name", 10) && strchr(line, ':')) {
            line[strcspn(line, "\n")] = 0;
            snprintf(out, size, "%s", strchr(line, ':') + 2);
            break;
        }
    if (file)
        fclose(file);
}

static int host_add(cJSON *document)
{
    cJSON *host = cJSON_AddObjectToObject(document, "host");
    char name[200], system[256] = "";
    struct utsname u;
    processor_name(name, sizeof name);
    if (!uname(&u))
        snprintf(system, sizeof system, "%.60s %.120s %.60s", u.sysname, u.release, u.machine);
    return host && profile_json_text(host, "name", name) && profile_json_text(host, "system", system) &&
           profile_json_count(host, "threads", sysconf(_SC_NPROCESSORS_ONLN));
}

cJSON *profile_document(const char *program, const char *version, const char *command)
{
    cJSON *document = cJSON_CreateObject();
    time_t now = time(NULL);
    struct tm utc;
    char date[32];
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    if (document && profile_json_text(document, "schema", "weft-profile-1") &&
        profile_json_text(document, "program", program) && profile_json_text(document, "version", version) &&
        profile_json_text(document, "command", command) && profile_json_text(document, "date", date) &&
        host_add(document) && cJSON_AddArrayToObject(document, "devices") && cJSON_AddArrayToObject(document, "runs"))
        return document;
    cJSON_Delete(document);
    return NULL;
}

static int text_ask(cJSON *o, const char *name, cl_device_id device, cl_device_info what)
{
    char text[512] = "";
    profile__next.clGetDeviceInfo(device, what, sizeof text - 1, text, NULL);
    return profile_json_text(o, name, text);
}

static int platform_ask(cJSON *o, const char *name, cl_device_id device, cl_platform_info what)
{
    char text[512] = "";
    cl_platform_id platform = NULL;
    if (profile__next.clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) == CL_SUCCESS)
        profile__next.clGetPlatformInfo(platform, what, sizeof text - 1, text, NULL);
    return profile_json_text(o, name, text);
}

// A number of `bytes` bytes; what the driver does not tell is left out.
static int number_ask(cJSON *o, const char *name, cl_device_id device, cl_device_info what, size_t bytes)
{
    cl_ulong value = 0; // little-endian: a shorter one fills its low bytes
    if (profile__next.clGetDeviceInfo(device, what, bytes, &value, NULL) != CL_SUCCESS || !value)
        return 1;
    return profile_json_count(o, name, (int64_t)value);
}

static int device_fill(cJSON *o, cl_device_id device)
{
    cl_device_type type = 0;
    profile__next.clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    return text_ask(o, "name", device, CL_DEVICE_NAME) && text_ask(o, "vendor", device, CL_DEVICE_VENDOR) &&
           platform_ask(o, "platform", device, CL_PLATFORM_NAME) &&
           platform_ask(o, "platform_version", device, CL_PLATFORM_VERSION) &&
           text_ask(o, "driver", device, CL_DRIVER_VERSION) && text_ask(o, "version", device, CL_DEVICE_VERSION) &&
           profile_json_text(o, "type",
                             type & CL_DEVICE_TYPE_GPU   ? "GPU"
                             : type & CL_DEVICE_TYPE_CPU ? "CPU"
                                                         : "accelerator") &&
           number_ask(o, "compute_units", device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint)) &&
           number_ask(o, "max_clock_mhz", device, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof(cl_uint)) &&
           number_ask(o, "global_bytes", device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong)) &&
           number_ask(o, "local_bytes", device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong)) &&
           number_ask(o, "cache_bytes", device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof(cl_ulong)) &&
           number_ask(o, "max_wg", device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t)) &&
           number_ask(o, "timer_ns", device, CL_DEVICE_PROFILING_TIMER_RESOLUTION, sizeof(size_t));
}

static int host_fill(cJSON *o)
{
    char name[200];
    processor_name(name, sizeof name);
    return profile_json_text(o, "name", name) && profile_json_text(o, "type", "host");
}

int profile_document_device(cJSON *document, cl_device_id device, int index)
{
    cJSON *devices = cJSON_GetObjectItemCaseSensitive(document, "devices");
    cJSON *o = cJSON_CreateObject();
    if (!o || !profile_json_count(o, "index", index) || !(device ? device_fill(o, device) : host_fill(o))) {
        cJSON_Delete(o);
        return -1;
    }
    // Handles are not for a record; two devices that nothing tells apart are one.
    int at = 0;
    for (const cJSON *d = devices->child; d; d = d->next, at++) {
        int same = 1;
        for (const cJSON *key = o->child; key && same; key = key->next)
            same = cJSON_Compare(key, cJSON_GetObjectItemCaseSensitive(d, key->string), 1);
        if (same) {
            cJSON_Delete(o);
            return at;
        }
    }
    return cJSON_AddItemToArray(devices, o) ? at : -1;
}

cJSON *profile_document_run(cJSON *document)
{
    cJSON *run = cJSON_CreateObject();
    if (run && cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(document, "runs"), run))
        return run;
    cJSON_Delete(run);
    return NULL;
}
