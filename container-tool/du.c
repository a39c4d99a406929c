/*
 * Measures folders, in a container of its own that has nothing but homes, which it cannot write to, and this tool:
 *
 *   berth-tool du PERCENT FOLDER
 *
 * For each folder in FOLDER it prints a line "NAME BYTES ENTRIES" as soon as it is known, or "NAME - ENTRIES" where it cannot be:
 * folders are too deep in each other, or there are so many files that they take longer than the limit. BYTES are those on the disk, so
 * that a file with holes counts what it takes; a file with several names counts once.
 *
 * It is the last to get the disk and the CPU where the kernel has a say in that, and it works for PERCENT of the time: files that
 * the kernel does not remember take a disk as long as whatever else is asked of it, and containers are launched meanwhile.
 */
#include "berth-tool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Folders in each other; each one holds a descriptor and 32 KiB while it is read. */
enum { max_depth = 1000 };
/* Seconds that one home may take, and after which all ends: the process that waits for it may have died. */
enum { home_limit = 3600, time_limit = 4 * 3600 };
/* ioprio_set(2): the first of its targets is this process; the class is served when nothing else wants the disk. */
enum { ioprio_process = 1, ioprio_idle = 3 << 13 };
/* ms of work between two pauses. */
static const double turn = 10;
/* Files with several names that are remembered; of more than these each name counts. */
enum { max_linked = 1 << 20 };

static unsigned percent;
static double turn_begun;
static double home_ends;
static dev_t file_system;
static unsigned long entries;
static unsigned long long blocks;
static bool is_failed;

/* Numbers of files with several names, by their hash; 0 is none. */
static uint64_t *linked;
static size_t linked_size;
static size_t linked_count;

static double now(void) {
  struct timespec time;
  (void)clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* Rests when it has worked for a while. Returns false when this home has had its time. */
static bool keep_pace(void) {
  double worked = now() - turn_begun;
  if (worked < turn) return true;
  if (percent < 100) {
    double rest = worked * (100 - percent) / percent;
    struct timespec pause = {.tv_sec = (time_t)(rest / 1e3), .tv_nsec = (long)((long long)(rest * 1e6) % 1000000000)};
    (void)nanosleep(&pause, NULL);
  }
  turn_begun = now();
  return turn_begun < home_ends;
}

static size_t place_of(const uint64_t *table, size_t size, uint64_t inode) {
  size_t at = (size_t)((inode * 0x9e3779b97f4a7c15ULL) >> 20) & (size - 1);
  while (table[at] != 0 && table[at] != inode) at = (at + 1) & (size - 1);
  return at;
}

/* Twice as many places. Returns false when there is no memory, or enough of it is in use. */
static bool grow(void) {
  size_t size = linked_size == 0 ? 1024 : linked_size * 2;
  uint64_t *table = size > max_linked * 2 ? NULL : calloc(size, sizeof *table);
  if (table == NULL) return false;
  for (size_t at = 0; at < linked_size; at++)
    if (linked[at] != 0) table[place_of(table, size, linked[at])] = linked[at];
  free(linked);
  linked = table;
  linked_size = size;
  return true;
}

/* Whether a file was met by another of its names. */
static bool was_met(uint64_t inode) {
  if (linked_count * 2 >= linked_size && !grow()) return false;
  size_t at = place_of(linked, linked_size, inode);
  if (linked[at] == inode) return true;
  linked[at] = inode;
  linked_count++;
  return false;
}

static void measure_below(int folder, unsigned depth);

static void measure_entry(int parent, const char *name, unsigned depth) {
  struct stat found;
  /* It may have gone meanwhile. */
  if (fstatat(parent, name, &found, AT_SYMLINK_NOFOLLOW) != 0 || found.st_dev != file_system) return;
  entries++;
  if (S_ISDIR(found.st_mode)) {
    int inner = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NOATIME);
    if (inner < 0 && errno == EPERM) inner = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner >= 0)
      measure_below(inner, depth + 1);
    else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
      is_failed = true;
  } else if (found.st_nlink > 1 && was_met((uint64_t)found.st_ino))
    return;
  blocks += (unsigned long long)found.st_blocks;
}

/* Measures all entries of a folder, and closes it. */
static void measure_below(int folder, unsigned depth) {
  DIR *listed = depth > max_depth ? NULL : fdopendir(folder);
  if (listed == NULL) {
    is_failed = true;
    (void)close(folder);
    return;
  }
  for (struct dirent *entry = readdir(listed); entry != NULL && !is_failed; entry = readdir(listed)) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (!keep_pace()) is_failed = true;
    measure_entry(folder, entry->d_name, depth);
  }
  (void)closedir(listed);
}

static void measure_home(int parent, const char *name) {
  struct stat found;
  int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  entries = 0;
  blocks = 0;
  linked_count = 0;
  if (linked_size > 0) memset(linked, 0, linked_size * sizeof *linked);
  is_failed = folder < 0 || fstat(folder, &found) != 0;
  home_ends = now() + 1e3 * home_limit;
  if (!is_failed) {
    file_system = found.st_dev;
    measure_below(folder, 0);
  } else if (folder >= 0)
    (void)close(folder);
  if (is_failed)
    (void)printf("%s - %lu\n", name, entries);
  else
    (void)printf("%s %llu %lu\n", name, blocks * 512, entries);
  (void)fflush(stdout);
}

int du_command(int argc, char **argv) {
  struct rlimit files;
  char *end;
  if (argc != 3) return TOOL_USAGE;
  percent = (unsigned)strtoul(argv[1], &end, 10);
  if (*end != '\0' || percent < 1 || percent > 100) return TOOL_USAGE;
  (void)alarm(time_limit);
  (void)setpriority(PRIO_PROCESS, 0, 19);
  (void)syscall(SYS_ioprio_set, ioprio_process, 0, ioprio_idle);
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
  }
  int parent = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *homes = parent < 0 ? NULL : opendir(argv[2]);
  if (homes == NULL) return tool_failed(argv[2]);
  turn_begun = now();
  for (struct dirent *home = readdir(homes); home != NULL; home = readdir(homes))
    if (home->d_name[0] != '.') measure_home(parent, home->d_name);
  (void)closedir(homes);
  (void)close(parent);
  return TOOL_OK;
}
