/*
 * A server of SFTP version 3 (draft-ietf-secsh-filexfer-02) on the standard streams, with the extensions that OpenSSH's
 * clients use. It runs as the container's own user, so what it may read and write is the kernel's decision.
 */
#include "berth-tool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum {
  max_packet = 256 * 1024,
  max_read = max_packet - 1024,
  max_handles = 256,
  /* Entries of a folder in one answer: each takes at most two names and 300 bytes. */
  names_at_once = 100,
};

enum { INIT = 1, VERSION, OPEN, CLOSE, READ, WRITE, LSTAT, FSTAT, SETSTAT, FSETSTAT, OPENDIR, READDIR, REMOVE, MKDIR, RMDIR,
       REALPATH, STAT, RENAME, READLINK, SYMLINK };
enum { STATUS = 101, HANDLE, DATA, NAME, ATTRS, EXTENDED = 200, EXTENDED_REPLY };
enum { FX_OK, FX_EOF, FX_NO_SUCH_FILE, FX_PERMISSION_DENIED, FX_FAILURE, FX_BAD_MESSAGE, FX_OP_UNSUPPORTED = 8 };
enum { PF_READ = 1, PF_WRITE = 2, PF_APPEND = 4, PF_CREAT = 8, PF_TRUNC = 16, PF_EXCL = 32 };
enum { HAS_SIZE = 1, HAS_OWNER = 2, HAS_MODE = 4, HAS_TIMES = 8 };
static const uint32_t HAS_MORE = 0x80000000u;

/* ---- packets ---- */

/* A packet of the client, of which reading more than there is fails once for all. */
struct reader {
  const unsigned char *at;
  const unsigned char *end;
  bool is_bad;
};

static unsigned char answer[max_packet + 4];
static size_t answer_length;

static uint32_t read_number(struct reader *in) {
  if (in->end - in->at < 4) {
    in->is_bad = true;
    return 0;
  }
  uint32_t value = (uint32_t)in->at[0] << 24 | (uint32_t)in->at[1] << 16 | (uint32_t)in->at[2] << 8 | in->at[3];
  in->at += 4;
  return value;
}

static uint64_t read_long(struct reader *in) {
  uint64_t high = read_number(in);
  return high << 32 | read_number(in);
}

static const unsigned char *read_bytes(struct reader *in, size_t *length) {
  *length = read_number(in);
  if (in->is_bad || (size_t)(in->end - in->at) < *length) {
    in->is_bad = true;
    *length = 0;
    return in->at;
  }
  in->at += *length;
  return in->at - *length;
}

/* A path, or another text. An empty path is the folder where the session began. */
static void read_text(struct reader *in, char *text, size_t size) {
  size_t length;
  const unsigned char *bytes = read_bytes(in, &length);
  text[0] = '\0';
  if (length >= size || memchr(bytes, '\0', length) != NULL) {
    in->is_bad = true;
    return;
  }
  memcpy(text, bytes, length);
  text[length] = '\0';
}

static void read_path(struct reader *in, char *path) {
  read_text(in, path, PATH_MAX);
  if (path[0] == '\0') (void)strcpy(path, ".");
}

static bool has_room(size_t length) { return sizeof answer - answer_length >= length; }

static void put_number(uint32_t value) {
  if (!has_room(4)) return;
  answer[answer_length++] = (unsigned char)(value >> 24);
  answer[answer_length++] = (unsigned char)(value >> 16);
  answer[answer_length++] = (unsigned char)(value >> 8);
  answer[answer_length++] = (unsigned char)value;
}

static void put_long(uint64_t value) {
  put_number((uint32_t)(value >> 32));
  put_number((uint32_t)value);
}

static void put_bytes(const void *bytes, size_t length) {
  if (!has_room(4 + length)) return;
  put_number((uint32_t)length);
  memcpy(answer + answer_length, bytes, length);
  answer_length += length;
}

static void put_text(const char *text) { put_bytes(text, strlen(text)); }

static void begin(int type, uint32_t id) {
  answer_length = 4;
  answer[answer_length++] = (unsigned char)type;
  put_number(id);
}

static int send_answer(void) {
  size_t length = answer_length - 4;
  for (int byte = 0; byte < 4; byte++) answer[byte] = (unsigned char)(length >> (24 - 8 * byte));
  return tool_write_all(STDOUT_FILENO, answer, answer_length);
}

static void put_status(uint32_t id, uint32_t code, const char *words) {
  begin(STATUS, id);
  put_number(code);
  put_text(words);
  put_text("");
}

/* By the errno of what failed. */
static void put_failure(uint32_t id) {
  int error = errno;
  uint32_t code = FX_FAILURE;
  if (error == ENOENT || error == ENOTDIR || error == EBADF || error == ELOOP) code = FX_NO_SUCH_FILE;
  // Clients show words of their own for each code, and "Failure" says nothing of a folder that is read alone.
  else if (error == EPERM || error == EACCES || error == EROFS || error == EFAULT) code = FX_PERMISSION_DENIED;
  else if (error == ENAMETOOLONG || error == EINVAL) code = FX_BAD_MESSAGE;
  else if (error == ENOSYS || error == EOPNOTSUPP) code = FX_OP_UNSUPPORTED;
  put_status(id, code, strerror(error));
}

static void put_result(uint32_t id, int result) {
  if (result < 0) put_failure(id);
  else put_status(id, FX_OK, "");
}

/* ---- handles ---- */

static struct {
  bool is_used;
  bool appends;
  int fd;
  DIR *folder;
} handles[max_handles];

static int free_handle(void) {
  for (int index = 0; index < max_handles; index++)
    if (!handles[index].is_used) return index;
  errno = EMFILE;
  return -1;
}

static void put_handle(uint32_t id, int index) {
  unsigned char bytes[4] = {0, 0, (unsigned char)(index >> 8), (unsigned char)index};
  begin(HANDLE, id);
  put_bytes(bytes, sizeof bytes);
}

/* Returns its place, or -1 with errno. */
static int read_handle(struct reader *in, bool is_folder) {
  size_t length;
  const unsigned char *bytes = read_bytes(in, &length);
  int index = length == 4 && bytes[0] == 0 && bytes[1] == 0 ? bytes[2] << 8 | bytes[3] : max_handles;
  if (index >= max_handles || !handles[index].is_used || (handles[index].folder != NULL) != is_folder) {
    errno = EBADF;
    return -1;
  }
  return index;
}

static int read_any_handle(struct reader *in) {
  const unsigned char *at = in->at;
  int index = read_handle(in, false);
  if (index >= 0 || in->is_bad) return index;
  in->at = at;
  return read_handle(in, true);
}

static int close_handle(int index) {
  int result = handles[index].folder != NULL ? closedir(handles[index].folder) : close(handles[index].fd);
  handles[index].is_used = false;
  handles[index].folder = NULL;
  return result;
}

/* ---- attributes ---- */

struct attributes {
  uint32_t flags;
  uint64_t size;
  uint32_t uid;
  uint32_t gid;
  uint32_t mode;
  uint32_t accessed;
  uint32_t modified;
};

static void read_attributes(struct reader *in, struct attributes *attributes) {
  memset(attributes, 0, sizeof *attributes);
  attributes->flags = read_number(in);
  if (attributes->flags & HAS_SIZE) attributes->size = read_long(in);
  if (attributes->flags & HAS_OWNER) {
    attributes->uid = read_number(in);
    attributes->gid = read_number(in);
  }
  if (attributes->flags & HAS_MODE) attributes->mode = read_number(in);
  if (attributes->flags & HAS_TIMES) {
    attributes->accessed = read_number(in);
    attributes->modified = read_number(in);
  }
  if ((attributes->flags & HAS_MORE) == 0) return;
  for (uint32_t left = read_number(in); left > 0 && !in->is_bad; left--) {
    size_t length;
    (void)read_bytes(in, &length);
    (void)read_bytes(in, &length);
  }
}

static void put_attributes(const struct stat *status) {
  put_number(HAS_SIZE | HAS_OWNER | HAS_MODE | HAS_TIMES);
  put_long((uint64_t)status->st_size);
  put_number(status->st_uid);
  put_number(status->st_gid);
  put_number(status->st_mode);
  put_number((uint32_t)status->st_atime);
  put_number((uint32_t)status->st_mtime);
}

static void put_stat(uint32_t id, int result, const struct stat *status) {
  if (result < 0) {
    put_failure(id);
    return;
  }
  begin(ATTRS, id);
  put_attributes(status);
}

/* Changes what the attributes name; of a file that is open, or else of a path. Returns 0, or -1 with errno. */
static int change(int fd, const char *path, bool follows, const struct attributes *attributes) {
  int flags = follows ? 0 : AT_SYMLINK_NOFOLLOW;
  int result = 0;
  if (attributes->flags & HAS_SIZE) {
    off_t size = (off_t)attributes->size;
    if (attributes->size > INT64_MAX || !follows) {
      errno = EINVAL;
      result = -1;
    } else if ((fd >= 0 ? ftruncate(fd, size) : truncate(path, size)) < 0) result = -1;
  }
  if (attributes->flags & HAS_MODE) {
    mode_t mode = attributes->mode & 07777;
    if ((fd >= 0 ? fchmod(fd, mode) : fchmodat(AT_FDCWD, path, mode, flags)) < 0) result = -1;
  }
  if (attributes->flags & HAS_TIMES) {
    struct timespec times[2] = {{.tv_sec = attributes->accessed}, {.tv_sec = attributes->modified}};
    if ((fd >= 0 ? futimens(fd, times) : utimensat(AT_FDCWD, path, times, flags)) < 0) result = -1;
  }
  if (attributes->flags & HAS_OWNER) {
    uid_t uid = attributes->uid;
    gid_t gid = attributes->gid;
    if ((fd >= 0 ? fchown(fd, uid, gid) : fchownat(AT_FDCWD, path, uid, gid, flags)) < 0) result = -1;
  }
  return result;
}

/* ---- requests ---- */

static void open_file(uint32_t id, struct reader *in) {
  char path[PATH_MAX];
  struct attributes attributes;
  read_path(in, path);
  uint32_t wanted = read_number(in);
  read_attributes(in, &attributes);
  if (in->is_bad) return;
  int flags = O_CLOEXEC | O_NOCTTY;
  if ((wanted & PF_READ) && (wanted & PF_WRITE)) flags |= O_RDWR;
  else if (wanted & PF_WRITE) flags |= O_WRONLY;
  else flags |= O_RDONLY;
  if (wanted & PF_APPEND) flags |= O_APPEND;
  if (wanted & PF_CREAT) flags |= O_CREAT;
  if (wanted & PF_TRUNC) flags |= O_TRUNC;
  if (wanted & PF_EXCL) flags |= O_EXCL;
  int index = free_handle();
  mode_t mode = attributes.flags & HAS_MODE ? attributes.mode & 07777 : 0666;
  int fd = index < 0 ? -1 : open(path, flags, mode);
  if (fd < 0) {
    put_failure(id);
    return;
  }
  handles[index].is_used = true;
  handles[index].appends = (wanted & PF_APPEND) != 0;
  handles[index].fd = fd;
  handles[index].folder = NULL;
  put_handle(id, index);
}

static void open_folder(uint32_t id, struct reader *in) {
  char path[PATH_MAX];
  read_path(in, path);
  if (in->is_bad) return;
  int index = free_handle();
  DIR *folder = index < 0 ? NULL : opendir(path);
  if (folder == NULL) {
    put_failure(id);
    return;
  }
  handles[index].is_used = true;
  handles[index].folder = folder;
  put_handle(id, index);
}

static void read_file(uint32_t id, struct reader *in) {
  int index = read_handle(in, false);
  uint64_t offset = read_long(in);
  size_t length = read_number(in);
  if (in->is_bad) return;
  if (index < 0) {
    put_failure(id);
    return;
  }
  if (length > max_read) length = max_read;
  begin(DATA, id);
  unsigned char *bytes = answer + answer_length + 4;
  ssize_t count = offset > INT64_MAX ? 0 : pread(handles[index].fd, bytes, length, (off_t)offset);
  // What has no place in it, such as a pipe, is read as it comes.
  if (count < 0 && errno == ESPIPE) count = read(handles[index].fd, bytes, length);
  if (count < 0) {
    put_failure(id);
    return;
  }
  if (count == 0 && length > 0) {
    put_status(id, FX_EOF, "End of file");
    return;
  }
  put_number((uint32_t)count);
  answer_length += (size_t)count;
}

static void write_file(uint32_t id, struct reader *in) {
  int index = read_handle(in, false);
  uint64_t offset = read_long(in);
  size_t length;
  const unsigned char *bytes = read_bytes(in, &length);
  if (in->is_bad) return;
  if (index < 0) {
    put_failure(id);
    return;
  }
  if (offset > INT64_MAX - length) {
    errno = EINVAL;
    put_failure(id);
    return;
  }
  int fd = handles[index].fd;
  for (size_t done = 0; done < length;) {
    off_t at = (off_t)(offset + done);
    ssize_t count = handles[index].appends ? write(fd, bytes + done, length - done) : pwrite(fd, bytes + done, length - done, at);
    if (count < 0 && errno == ESPIPE) count = write(fd, bytes + done, length - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      put_failure(id);
      return;
    }
    done += (size_t)count;
  }
  put_status(id, FX_OK, "");
}

/* A line as `ls -l` writes it. The draft says that it is for people, and not to be parsed. */
static void put_long_name(const char *name, const struct stat *status) {
  static const char types[] = "?pc?d?b?-?l?s???";
  char mode[11] = "?rwxrwxrwx";
  mode[0] = types[status->st_mode >> 12 & 15];
  for (int bit = 0; bit < 9; bit++)
    if ((status->st_mode & (0400u >> bit)) == 0) mode[1 + bit] = '-';
  if (status->st_mode & S_ISUID) mode[3] = status->st_mode & S_IXUSR ? 's' : 'S';
  if (status->st_mode & S_ISGID) mode[6] = status->st_mode & S_IXGRP ? 's' : 'S';
  if (status->st_mode & S_ISVTX) mode[9] = status->st_mode & S_IXOTH ? 't' : 'T';
  struct tm parts;
  char day[32] = "";
  if (localtime_r(&status->st_mtime, &parts) != NULL) {
    bool is_recent = time(NULL) - status->st_mtime < 365L * 86400 / 2;
    (void)strftime(day, sizeof day, is_recent ? "%b %e %H:%M" : "%b %e  %Y", &parts);
  }
  char line[NAME_MAX + PATH_MAX + 200];
  (void)snprintf(line, sizeof line, "%s %4lu %-8lu %-8lu %8llu %s %s", mode, (unsigned long)status->st_nlink,
                 (unsigned long)status->st_uid, (unsigned long)status->st_gid, (unsigned long long)status->st_size, day, name);
  put_text(line);
}

static void read_folder(uint32_t id, struct reader *in) {
  int index = read_handle(in, true);
  if (in->is_bad) return;
  if (index < 0) {
    put_failure(id);
    return;
  }
  DIR *folder = handles[index].folder;
  begin(NAME, id);
  size_t count_at = answer_length;
  uint32_t count = 0;
  put_number(0);
  const struct dirent *entry;
  while (count < names_at_once && has_room(2 * NAME_MAX + 600) && (entry = readdir(folder)) != NULL) {
    struct stat status;
    if (fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0) continue;
    put_text(entry->d_name);
    put_long_name(entry->d_name, &status);
    put_attributes(&status);
    count++;
  }
  if (count == 0) {
    put_status(id, FX_EOF, "End of folder");
    return;
  }
  size_t end = answer_length;
  answer_length = count_at;
  put_number(count);
  answer_length = end;
}

static void put_name(uint32_t id, const char *name) {
  begin(NAME, id);
  put_number(1);
  put_text(name);
  put_text(name);
  put_number(0);
}

/* As OpenSSH does it: what is not there yet is resolved as far as its folder. */
static void real_path(uint32_t id, const char *path) {
  char resolved[PATH_MAX];
  char folder[PATH_MAX];
  if (realpath(path, resolved) != NULL) {
    put_name(id, resolved);
    return;
  }
  if (errno != ENOENT) {
    put_failure(id);
    return;
  }
  (void)strcpy(folder, path);
  size_t length = strlen(folder);
  while (length > 1 && folder[length - 1] == '/') folder[--length] = '\0';
  char *slash = strrchr(folder, '/');
  const char *name = slash == NULL ? folder : slash + 1;
  char last[NAME_MAX + 1];
  if (strlen(name) > NAME_MAX || strcmp(name, "..") == 0 || strcmp(name, ".") == 0) {
    errno = ENOENT;
    put_failure(id);
    return;
  }
  (void)strcpy(last, name);
  if (slash == NULL) (void)strcpy(folder, ".");
  else if (slash == folder) folder[1] = '\0';
  else *slash = '\0';
  if (realpath(folder, resolved) == NULL) {
    put_failure(id);
    return;
  }
  char whole[PATH_MAX + NAME_MAX + 2];
  (void)snprintf(whole, sizeof whole, "%s/%s", strcmp(resolved, "/") == 0 ? "" : resolved, last);
  put_name(id, whole);
}

/* Version 3 does not replace what is there. */
static int rename_new(const char *from, const char *to) {
  struct stat status;
  if (lstat(from, &status) < 0) return -1;
  if (lstat(to, &status) == 0) {
    errno = EEXIST;
    return -1;
  }
  return rename(from, to);
}

static void put_file_system(uint32_t id, int result, const struct statvfs *system) {
  if (result < 0) {
    put_failure(id);
    return;
  }
  begin(EXTENDED_REPLY, id);
  put_long(system->f_bsize);
  put_long(system->f_frsize);
  put_long(system->f_blocks);
  put_long(system->f_bfree);
  put_long(system->f_bavail);
  put_long(system->f_files);
  put_long(system->f_ffree);
  put_long(system->f_favail);
  put_long(system->f_fsid);
  put_long((system->f_flag & ST_RDONLY ? 1u : 0u) | (system->f_flag & ST_NOSUID ? 2u : 0u));
  put_long(system->f_namemax);
}

/* `~` and `~/...` alone: other people have no folder here. */
static void expand_path(uint32_t id, const char *path) {
  char whole[2 * PATH_MAX];
  const char *home = getenv("HOME");
  if (path[0] != '~') {
    real_path(id, path);
    return;
  }
  if (path[1] != '\0' && path[1] != '/') {
    errno = ENOENT;
    put_failure(id);
    return;
  }
  (void)snprintf(whole, sizeof whole, "%s%s", home == NULL ? "/" : home, path + 1);
  if (strlen(whole) >= PATH_MAX) {
    errno = ENAMETOOLONG;
    put_failure(id);
    return;
  }
  real_path(id, whole);
}

static void extended(uint32_t id, struct reader *in) {
  char name[64];
  char path[PATH_MAX];
  char other[PATH_MAX];
  struct statvfs system;
  read_text(in, name, sizeof name);
  if (strcmp(name, "posix-rename@openssh.com") == 0 || strcmp(name, "hardlink@openssh.com") == 0) {
    read_path(in, path);
    read_path(in, other);
    if (!in->is_bad) put_result(id, name[0] == 'p' ? rename(path, other) : link(path, other));
  } else if (strcmp(name, "statvfs@openssh.com") == 0) {
    read_path(in, path);
    if (!in->is_bad) put_file_system(id, statvfs(path, &system), &system);
  } else if (strcmp(name, "fstatvfs@openssh.com") == 0) {
    int index = read_handle(in, false);
    if (!in->is_bad) put_file_system(id, index < 0 ? -1 : fstatvfs(handles[index].fd, &system), &system);
  } else if (strcmp(name, "fsync@openssh.com") == 0) {
    int index = read_handle(in, false);
    if (!in->is_bad) put_result(id, index < 0 ? -1 : fsync(handles[index].fd));
  } else if (strcmp(name, "lsetstat@openssh.com") == 0) {
    struct attributes attributes;
    read_path(in, path);
    read_attributes(in, &attributes);
    if (!in->is_bad) put_result(id, change(-1, path, false, &attributes));
  } else if (strcmp(name, "expand-path@openssh.com") == 0) {
    read_text(in, path, sizeof path);
    if (!in->is_bad) expand_path(id, path);
  } else if (strcmp(name, "limits@openssh.com") == 0) {
    begin(EXTENDED_REPLY, id);
    put_long(max_packet);
    put_long(max_read);
    put_long(max_read);
    put_long(max_handles);
  } else put_status(id, FX_OP_UNSUPPORTED, "Operation unsupported");
}

static void read_link(uint32_t id, const char *path) {
  char target[PATH_MAX];
  ssize_t length = readlink(path, target, sizeof target - 1);
  if (length < 0) {
    put_failure(id);
    return;
  }
  target[length] = '\0';
  put_name(id, target);
}

static void answer_path(int type, uint32_t id, struct reader *in) {
  char path[PATH_MAX];
  char other[PATH_MAX];
  struct stat status;
  struct attributes attributes;
  read_path(in, path);
  if (type == RENAME || type == SYMLINK) read_path(in, other);
  if (type == SETSTAT || type == MKDIR) read_attributes(in, &attributes);
  if (in->is_bad) return;
  switch (type) {
    case LSTAT: put_stat(id, lstat(path, &status), &status); break;
    case STAT: put_stat(id, stat(path, &status), &status); break;
    case SETSTAT: put_result(id, change(-1, path, true, &attributes)); break;
    case REMOVE: put_result(id, unlink(path)); break;
    case MKDIR: put_result(id, mkdir(path, attributes.flags & HAS_MODE ? attributes.mode & 07777 : 0777)); break;
    case RMDIR: put_result(id, rmdir(path)); break;
    case RENAME: put_result(id, rename_new(path, other)); break;
    // OpenSSH's clients send the target first, against the draft (its PROTOCOL file, 4.1).
    case SYMLINK: put_result(id, symlink(path, other)); break;
    case REALPATH: real_path(id, path); break;
    default: read_link(id, path);
  }
}

static void answer_handle(int type, uint32_t id, struct reader *in) {
  struct stat status;
  struct attributes attributes;
  int index = read_any_handle(in);
  if (type == FSETSTAT) read_attributes(in, &attributes);
  if (in->is_bad) return;
  if (index < 0) {
    put_failure(id);
    return;
  }
  int fd = handles[index].folder != NULL ? dirfd(handles[index].folder) : handles[index].fd;
  if (type == CLOSE) put_result(id, close_handle(index));
  else if (type == FSTAT) put_stat(id, fstat(fd, &status), &status);
  else put_result(id, change(fd, NULL, true, &attributes));
}

static void serve_request(int type, struct reader *in) {
  uint32_t id = read_number(in);
  answer_length = 0;
  if (in->is_bad) id = 0;
  else if (type == OPEN) open_file(id, in);
  else if (type == OPENDIR) open_folder(id, in);
  else if (type == READ) read_file(id, in);
  else if (type == WRITE) write_file(id, in);
  else if (type == READDIR) read_folder(id, in);
  else if (type == CLOSE || type == FSTAT || type == FSETSTAT) answer_handle(type, id, in);
  else if (type >= LSTAT && type <= SYMLINK) answer_path(type, id, in);
  else if (type == EXTENDED) extended(id, in);
  else put_status(id, FX_OP_UNSUPPORTED, "Operation unsupported");
  if (in->is_bad) put_status(id, FX_BAD_MESSAGE, "Bad message");
}

static void put_version(void) {
  static const char *const extensions[][2] = {
      {"posix-rename@openssh.com", "1"}, {"statvfs@openssh.com", "2"},  {"fstatvfs@openssh.com", "2"},
      {"hardlink@openssh.com", "1"},     {"fsync@openssh.com", "1"},    {"lsetstat@openssh.com", "1"},
      {"limits@openssh.com", "1"},       {"expand-path@openssh.com", "1"}};
  begin(VERSION, 3);
  for (size_t index = 0; index < sizeof extensions / sizeof extensions[0]; index++) {
    put_text(extensions[index][0]);
    put_text(extensions[index][1]);
  }
}

int sftp_command(void) {
  static unsigned char packet[max_packet];
  bool has_begun = false;
  // The client says which mode a file has.
  (void)umask(022);
  for (;;) {
    unsigned char head[4];
    int got = tool_read_all(head, sizeof head);
    if (got <= 0) return got == 0 ? TOOL_OK : TOOL_FAILED;
    size_t length = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
    if (length < 1 || length > sizeof packet || tool_read_all(packet, length) != 1) return TOOL_FAILED;
    struct reader in = {.at = packet + 1, .end = packet + length};
    if (!has_begun) {
      if (packet[0] != INIT) return TOOL_FAILED;
      has_begun = true;
      put_version();
    } else serve_request(packet[0], &in);
    if (send_answer() < 0) return TOOL_OK;
  }
}
