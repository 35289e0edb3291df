// SPDX-License-Identifier: Apache-2.0
// Makes calls of POSIX out of those of Windows, as far as the library uses them.
#include <windows.h>

#include <aclapi.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

enum { PATH_BYTES = 4096 };

static int failed(void)
{
    switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
        errno = ENOENT;
        break;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
        errno = EACCES;
        break;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS:
        errno = EEXIST;
        break;
    case ERROR_DISK_FULL:
        errno = ENOSPC;
        break;
    default:
        errno = EIO;
    }
    return -1;
}

// ---- whose a file is -------------------------------------------------------------------------------------------

// What the process's token says: TokenUser or TokenOwner. Both begin with a pointer to the SID. The caller frees it.
static PSID *token_read(TOKEN_INFORMATION_CLASS what)
{
    HANDLE token;
    DWORD bytes = 0;
    PSID *out = NULL;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
        return NULL;
    GetTokenInformation(token, what, NULL, 0, &bytes);
    if (bytes && (out = malloc(bytes)) && !GetTokenInformation(token, what, out, bytes, &bytes)) {
        free(out);
        out = NULL;
    }
    CloseHandle(token);
    return out;
}

static int is_ours(PSID who, PSID const *user, PSID const *owner)
{
    return user && owner && (EqualSid(who, *user) || EqualSid(who, *owner));
}

// May somebody else than the user, the system and its administrators write, delete or change rights?
static int others_write(ACL *list, PSID const *user, PSID const *owner)
{
    const DWORD writes = FILE_WRITE_DATA | FILE_APPEND_DATA | FILE_DELETE_CHILD | DELETE | WRITE_DAC | WRITE_OWNER |
                         GENERIC_WRITE | GENERIC_ALL;
    if (!list) // no list: everybody may do everything
        return 1;
    for (DWORD i = 0; i < list->AceCount; i++) {
        ACCESS_ALLOWED_ACE *ace;
        if (!GetAce(list, i, (void **)&ace))
            return 1;
        PSID who = &ace->SidStart;
        if (ace->Header.AceType == ACCESS_ALLOWED_ACE_TYPE && !(ace->Header.AceFlags & INHERIT_ONLY_ACE) &&
            (ace->Mask & writes) && !is_ours(who, user, owner) && !IsWellKnownSid(who, WinLocalSystemSid) &&
            !IsWellKnownSid(who, WinBuiltinAdministratorsSid) && !IsWellKnownSid(who, WinCreatorOwnerRightsSid))
            return 1;
    }
    return 0;
}

int weft__windows_fstat(int fd, struct stat *out)
{
    HANDLE handle = (HANDLE)_get_osfhandle(fd);
    BY_HANDLE_FILE_INFORMATION about;
    ACL *list;
    PSID holder;
    PSECURITY_DESCRIPTOR rights;
    *out = (struct stat){0};
    if (handle == INVALID_HANDLE_VALUE) {
        errno = EBADF;
        return -1;
    }
    if (GetFileType(handle) != FILE_TYPE_DISK) {
        out->st_mode = S_IFCHR;
        return 0;
    }
    if (!GetFileInformationByHandle(handle, &about))
        return failed();
    out->st_mode = about.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? S_IFDIR | 0700 : S_IFREG | 0600;
    out->st_size = (off_t)((uint64_t)about.nFileSizeHigh << 32 | about.nFileSizeLow);
    if (GetSecurityInfo(handle, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION, &holder, NULL,
                        &list, NULL, &rights) != ERROR_SUCCESS) {
        out->st_uid = 1; // a file system without owners
        return 0;
    }
    PSID *user = token_read(TokenUser), *owner = token_read(TokenOwner);
    out->st_uid = !is_ours(holder, user, owner);
    if (others_write(list, user, owner))
        out->st_mode |= S_IWOTH;
    free(user);
    free(owner);
    LocalFree(rights);
    return 0;
}

// ---- files -----------------------------------------------------------------------------------------------------

int weft__windows_open(const char *path, int flags, ...)
{
    const int folder = flags & O_DIRECTORY;
    const DWORD access = flags & O_RDWR     ? GENERIC_READ | GENERIC_WRITE
                         : flags & O_WRONLY ? GENERIC_WRITE
                                            : GENERIC_READ;
    const DWORD when = !(flags & O_CREAT) ? OPEN_EXISTING : flags & O_EXCL ? CREATE_NEW : OPEN_ALWAYS;
    const DWORD share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE; // so that it can be renamed while open
    BY_HANDLE_FILE_INFORMATION about;
    HANDLE handle =
        CreateFileA(path, access, share, NULL, when,
                    FILE_FLAG_BACKUP_SEMANTICS | (flags & O_NOFOLLOW ? FILE_FLAG_OPEN_REPARSE_POINT : 0), NULL);
    if (handle == INVALID_HANDLE_VALUE)
        return failed();
    if (GetFileInformationByHandle(handle, &about)) {
        const DWORD is = about.dwFileAttributes;
        const int error = flags & O_NOFOLLOW && is & FILE_ATTRIBUTE_REPARSE_POINT ? ELOOP
                          : folder && !(is & FILE_ATTRIBUTE_DIRECTORY)            ? ENOTDIR
                                                                                  : 0;
        if (error) {
            CloseHandle(handle);
            errno = error;
            return -1;
        }
    }
    const int fd = _open_osfhandle((intptr_t)handle, flags & (O_WRONLY | O_RDWR | O_NOINHERIT));
    if (fd < 0)
        CloseHandle(handle);
    else
        _setmode(fd, O_BINARY);
    return fd;
}

// The path of `name` in the folder; 0: none.
static int path_in(char out[PATH_BYTES], int folder, const char *name)
{
    const int is_whole = *name == '/' || *name == '\\' || (*name && name[1] == ':');
    const DWORD length =
        is_whole ? 0 : GetFinalPathNameByHandleA((HANDLE)_get_osfhandle(folder), out, PATH_BYTES, FILE_NAME_NORMALIZED);
    if ((!is_whole && !length) || length + strlen(name) + 2 > PATH_BYTES) {
        errno = ENAMETOOLONG;
        return 0;
    }
    snprintf(out + length, PATH_BYTES - length, "%s%s", is_whole ? "" : "\\", name);
    return 1;
}

int openat(int folder, const char *name, int flags, ...)
{
    char path[PATH_BYTES];
    return path_in(path, folder, name) ? weft__windows_open(path, flags) : -1;
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    char old[PATH_BYTES], new[PATH_BYTES];
    if (!path_in(old, from_folder, from) || !path_in(new, to_folder, to))
        return -1;
    return MoveFileExA(old, new, MOVEFILE_REPLACE_EXISTING) ? 0 : failed();
}

int unlinkat(int folder, const char *name, int flags)
{
    char path[PATH_BYTES];
    (void)flags;
    return path_in(path, folder, name) ? DeleteFileA(path) ? 0 : failed() : -1;
}

int mkdirat(const char *path)
{
    return CreateDirectoryA(path, NULL) ? 0 : failed();
}

int fcntl(int fd, int command, int least)
{
    const int copy = command == F_DUPFD_CLOEXEC && fd >= 0 ? _dup(fd) : -1;
    (void)least;
    if (copy >= 0) {
        _setmode(copy, O_BINARY);
        SetHandleInformation((HANDLE)_get_osfhandle(copy), HANDLE_FLAG_INHERIT, 0);
    }
    return copy;
}

int fsync(int fd)
{
    HANDLE handle = (HANDLE)_get_osfhandle(fd);
    if (GetFileType(handle) == FILE_TYPE_DISK)
        return FlushFileBuffers(handle) ? 0 : failed();
    errno = EINVAL;
    return -1;
}

ssize_t pread(int fd, void *out, size_t bytes, off_t at)
{
    return lseek(fd, at, SEEK_SET) < 0 ? -1 : read(fd, out, (unsigned)(bytes < INT_MAX ? bytes : INT_MAX));
}

char *secure_getenv(const char *name)
{
    char *text = getenv(name);
    const int is_folder = !strcmp(name, "XDG_CACHE_HOME") || !strcmp(name, "XDG_CONFIG_HOME");
    return is_folder && (!text || !*text) ? getenv("LOCALAPPDATA") : text;
}

// ---- text, memory ----------------------------------------------------------------------------------------------

char *strcasestr(const char *text, const char *part)
{
    for (const size_t length = strlen(part);; text++) {
        if (!_strnicmp(text, part, length))
            return (char *)text;
        if (!*text)
            return NULL;
    }
}

char *strsep(char **rest, const char *ends)
{
    char *const begin = *rest;
    if (begin) {
        char *end = begin + strcspn(begin, ends);
        *rest = *end ? end + 1 : NULL;
        *end = 0;
    }
    return begin;
}

void *memrchr(const void *text, int wanted, size_t bytes)
{
    const unsigned char *at = text;
    while (bytes && at[bytes - 1] != (unsigned char)wanted)
        bytes--;
    return bytes ? (void *)(at + bytes - 1) : NULL;
}

int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    (void)alignment;
    *out = malloc(bytes);
    return *out ? 0 : ENOMEM;
}

locale_t newlocale(int mask, const char *name, locale_t base)
{
    (void)mask;
    (void)base;
    return strdup(name);
}

locale_t uselocale(locale_t locale)
{
    static _Thread_local char before[256];
    static _Thread_local int kind; // whether the thread had a locale of its own
    if (locale == before) {
        setlocale(LC_ALL, before);
        _configthreadlocale(kind);
    } else {
        kind = _configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
        snprintf(before, sizeof before, "%s", setlocale(LC_ALL, NULL));
        setlocale(LC_ALL, locale);
    }
    return before;
}

void freelocale(locale_t locale)
{
    free(locale);
}

double strtod_l(const char *text, char **end, locale_t locale)
{
    locale_t before = uselocale(locale);
    const double value = strtod(text, end);
    uselocale(before);
    return value;
}

float strtof_l(const char *text, char **end, locale_t locale)
{
    locale_t before = uselocale(locale);
    const float value = strtof(text, end);
    uselocale(before);
    return value;
}

// ---- threads --------------------------------------------------------------------------------------------------

int sched_getaffinity(int process, size_t bytes, cpu_set_t *out)
{
    DWORD_PTR mine, all;
    (void)process;
    (void)bytes;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &mine, &all))
        return -1;
    *out = mine;
    return 0;
}
