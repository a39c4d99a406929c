/*
 * Gives a home to another account, in a container of its own that has nothing but the home and this tool:
 *
 *   berth-tool chown FROM TO FOLDER WHICH
 *
 * FROM and TO are "UID:GID", "UID:-" or "-": without a part of FROM the account of the folder itself counts, and without a
 * group of TO groups stay. WHICH is "DEVICE:INODE" that the folder has to have, or "-". What belongs to another account than
 * FROM stays. The folder itself is last, so that a run that was cut off is completed by the next one.
 *
 * Each file is opened by its name in its folder, without following a link, and changed by what was opened: so a
 * rename meanwhile leads this to no other file. Other file systems that are mounted below are left out. Standard output has a
 * line "progress SEEN CHANGED" each second, and at the end "done SEEN CHANGED BEFORE LEFT FROM_UID FROM_GID": entries,
 * those that were changed, those that belonged to TO before, and those that could not be changed.
 */
#include "berth-tool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Folders in each other; each one holds two descriptors and 32 KiB while it is read. */
enum { max_depth = 1000 };
/* Seconds after which it ends by itself: the process that waits for it may have died. */
enum { time_limit = 1200 };

/* No account: the kernel takes it for "leave as it is" (chown(2)). */
static const unsigned nobody = (unsigned)-1;

struct account {
  unsigned uid;
  unsigned gid;
};

static struct account from, to;
static dev_t file_system;
static unsigned long seen, changed, before, left;

static void tell_progress(void) {
  static time_t told;
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  if (now.tv_sec == told) return;
  told = now.tv_sec;
  (void)printf("progress %lu %lu\n", seen, changed);
  (void)fflush(stdout);
}

static void leave(const char *name) {
  left++;
  /* The first are enough to find out why. */
  if (left <= 5) (void)fprintf(stderr, "%s: %s\n", name, strerror(errno));
}

/* Changes what is open; `file` may be opened by O_PATH alone. */
static void change(int file, const struct stat *found, const char *name) {
  unsigned uid = found->st_uid == from.uid && to.uid != from.uid ? to.uid : nobody;
  unsigned gid = to.gid != nobody && found->st_gid == from.gid && to.gid != from.gid ? to.gid : nobody;
  seen++;
  tell_progress();
  /* A file with several names is met again under each. */
  if (uid == nobody && found->st_uid == to.uid && to.uid != from.uid && (S_ISDIR(found->st_mode) || found->st_nlink == 1)) before++;
  if (uid == nobody && gid == nobody) return;
  if (fchownat(file, "", uid, gid, AT_EMPTY_PATH) != 0)
    leave(name);
  else
    changed++;
}

static void change_below(int folder, unsigned depth);

static void change_entry(int folder, const char *name, unsigned depth) {
  struct stat found;
  int file = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0 || fstat(file, &found) != 0) {
    /* Removed meanwhile. */
    if (errno != ENOENT) leave(name);
  } else if (found.st_dev == file_system) {
    if (S_ISDIR(found.st_mode)) {
      int inner = openat(file, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      if (inner < 0)
        leave(name);
      else
        change_below(inner, depth + 1);
    }
    change(file, &found, name);
  }
  if (file >= 0) (void)close(file);
}

/* Changes all entries of a folder, and closes it. */
static void change_below(int folder, unsigned depth) {
  DIR *entries = NULL;
  if (depth > max_depth)
    errno = ELOOP;
  else
    entries = fdopendir(folder);
  if (entries == NULL) {
    leave("a folder");
    (void)close(folder);
    return;
  }
  for (;;) {
    errno = 0;
    struct dirent *entry = readdir(entries);
    if (entry == NULL) break;
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) change_entry(folder, entry->d_name, depth);
  }
  if (errno != 0) leave("a folder");
  (void)closedir(entries);
}

static bool read_number(const char *text, unsigned *number) {
  char *end;
  if (strcmp(text, "-") == 0) {
    *number = nobody;
    return true;
  }
  errno = 0;
  unsigned long value = strtoul(text, &end, 10);
  *number = (unsigned)value;
  return errno == 0 && end != text && *end == '\0' && value < nobody && text[0] >= '0' && text[0] <= '9';
}

/* Reads "UID:GID"; a part that is "-" or missing is `nobody`. */
static bool read_account(const char *text, struct account *account) {
  char uid[16];
  const char *colon = strchr(text, ':');
  size_t length = colon == NULL ? strlen(text) : (size_t)(colon - text);
  if (length >= sizeof uid) return false;
  memcpy(uid, text, length);
  uid[length] = '\0';
  account->gid = nobody;
  return read_number(uid, &account->uid) && (colon == NULL || read_number(colon + 1, &account->gid));
}

static bool is_wanted(const char *which, const struct stat *found) {
  char own[64];
  (void)snprintf(own, sizeof own, "%lu:%lu", (unsigned long)found->st_dev, (unsigned long)found->st_ino);
  return strcmp(which, "-") == 0 || strcmp(which, own) == 0;
}

int chown_command(int argc, char **argv) {
  struct stat found;
  struct rlimit files;
  if (argc != 5 || !read_account(argv[1], &from) || !read_account(argv[2], &to) || to.uid == nobody) return TOOL_USAGE;
  (void)alarm(time_limit);
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
  }
  int folder = open(argv[3], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0 || fstat(folder, &found) != 0) return tool_failed(argv[3]);
  if (!is_wanted(argv[4], &found)) {
    (void)fputs("this is another folder than the one that was checked\n", stderr);
    return TOOL_FAILED;
  }
  file_system = found.st_dev;
  if (from.uid == nobody) from.uid = found.st_uid;
  if (from.gid == nobody) from.gid = found.st_gid;
  int inner = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (inner < 0) return tool_failed(argv[3]);
  change_below(inner, 0);
  /* The run that completes this one finds by the folder whose the home was. */
  if (left == 0) change(folder, &found, argv[3]);
  (void)printf("done %lu %lu %lu %lu %u %u\n", seen, changed, before, left, from.uid, from.gid);
  return TOOL_OK;
}
