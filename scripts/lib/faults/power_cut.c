/* Simulates a power cut: records a copy of each file of a data folder at its last sync. For LD_PRELOAD;
 * scripts/lib/faults/power_cut.py builds a folder from the copies.
 *
 * POWER_CUT_DATA is the data folder, POWER_CUT_DISK the folder of the copies: inodes/N has the synced bytes
 * of inode N, and names/NAME (with `/` as `%`) the inode number of a synced folder or file. Files that were never
 * synced are empty, and names that were never synced are missing. A real disk may hold more than the synced bytes;
 * this is the worst case. Changes through a mapping count when the file is synced. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void copy_inode(int fd, unsigned long inode) {
    const char *disk = getenv("POWER_CUT_DISK");
    char path[4200], fresh[4200], link[64];
    static char block[1 << 16];
    snprintf(path, sizeof path, "%s/inodes/%lu", disk, inode);
    snprintf(fresh, sizeof fresh, "%s/new-%d", disk, getpid());
    /* Reopened, because the file may be open for writing only. */
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int from = open(link, O_RDONLY | O_CLOEXEC);
    int to = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ssize_t got;
    while (from >= 0 && to >= 0 && (got = read(from, block, sizeof block)) > 0)
        if (write(to, block, (size_t)got) != got) break;
    if (from >= 0) close(from);
    if (to >= 0) close(to);
    rename(fresh, path);
}

/* Returns the path below the data folder, with `/` as `%`; NULL outside of it. */
static char *name_of(int fd, char *path, size_t size) {
    const char *data = getenv("POWER_CUT_DATA");
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, size - 1);
    if (length < 0) return NULL;
    path[length] = 0;
    size_t prefix = strlen(data);
    if (strncmp(path, data, prefix) || (path[prefix] && path[prefix] != '/')) return NULL;
    char *name = path + prefix + (path[prefix] == '/');
    for (char *at = name; *at; at++)
        if (*at == '/') *at = '%';
    return name;
}

static void write_name(const char *name, unsigned long inode) {
    const char *disk = getenv("POWER_CUT_DISK");
    char path[8400], fresh[4200];
    snprintf(path, sizeof path, "%s/names/%s", disk, name);
    snprintf(fresh, sizeof fresh, "%s/new-%d", disk, getpid());
    FILE *file = fopen(fresh, "we");
    if (!file) return;
    fprintf(file, "%lu", inode);
    fclose(file);
    rename(fresh, path);
}

/* Records the names in a synced folder. */
static void keep_folder(int fd, const char *folder) {
    char path[8400], name[4200], link[64];
    snprintf(path, sizeof path, "%s/names", getenv("POWER_CUT_DISK"));
    size_t prefix = strlen(folder);
    DIR *names = opendir(path);
    for (struct dirent *entry; names && (entry = readdir(names));) {
        const char *rest = entry->d_name + prefix + (prefix ? 1 : 0);
        if (strncmp(entry->d_name, folder, prefix) || (prefix && entry->d_name[prefix] != '%')) continue;
        if (entry->d_name[0] == '.' || strchr(rest, '%')) continue;
        struct stat there;
        if (fstatat(fd, rest, &there, 0)) unlinkat(dirfd(names), entry->d_name, 0);
    }
    if (names) closedir(names);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    DIR *entries = opendir(link);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        struct stat found;
        if (fstatat(fd, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) || !S_ISREG(found.st_mode)) continue;
        snprintf(name, sizeof name, "%s%s%s", folder, prefix ? "%" : "", entry->d_name);
        write_name(name, found.st_ino);
    }
    if (entries) closedir(entries);
}

static void keep(int fd) {
    struct stat found;
    char path[4200];
    if (!getenv("POWER_CUT_DISK") || fstat(fd, &found)) return;
    char *name = name_of(fd, path, sizeof path);
    if (!name) return;
    pthread_mutex_lock(&turn);
    if (S_ISDIR(found.st_mode)) {
        keep_folder(fd, name);
    } else if (S_ISREG(found.st_mode)) {
        copy_inode(fd, found.st_ino);
        /* On common file systems, syncing a new file also syncs its name. */
        if (*name && found.st_nlink) write_name(name, found.st_ino);
    }
    pthread_mutex_unlock(&turn);
}

int fsync(int fd) {
    int outcome = ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
    if (!outcome) keep(fd);
    return outcome;
}

int fdatasync(int fd) {
    int outcome = ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
    if (!outcome) keep(fd);
    return outcome;
}
