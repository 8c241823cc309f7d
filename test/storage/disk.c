/*
 * A disk that can lose power, is slow or fails, for a process that is started with LD_PRELOAD. It knows the
 * files below the folder DISK_FOLDER:
 *   DISK_KEPT        a folder that holds what a power cut leaves for certain: what a file was at its last sync, by its
 *                    inode; the names of a folder at its last sync; and, as `gone-`, files that have lost their names
 *   DISK_CUT         words: the process dies as soon as it has written them, or has given a file this name (`/todos.db`)
 *   DISK_FAILING     a file that holds a number: that sync, rename, link or removal fails with EIO, and the file then
 *                    holds its call; with `+` behind the number, all later ones fail too
 *   DISK_HELD        while this file exists, each sync adds a character to it and waits
 *   DISK_BROKEN      while this file exists, each sync fails with EIO
 *   DISK_UNREADABLE  while this file exists, each read of a database fails with the errno that it holds
 *   DISK_UNSEEN      while this file exists, nobody can look at a file by its name: the look fails with EIO
 *   DISK_TYPE        the number of the file system that they are on, as statfs(2) gives it
 *   DISK_THREADLESS  while this file exists, no thread starts, in whatever folder
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Reads through the descriptor at hand: to open and close the file again would drop this process's locks. A file that is
 * open only for writing has none. */
static void keep_bytes(int fd, const char *path, int copy) {
  char buffer[65536];
  ssize_t got;
  int only_written = (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY;
  int source = only_written ? open(path, O_RDONLY) : fd;
  for (off_t at = 0; (got = pread(source, buffer, sizeof buffer, at)) > 0; at += got) {
    if (write(copy, buffer, got) != got) abort();
  }
  if (got < 0 || (only_written && close(source) != 0)) abort();
}

static void keep_names(const char *path, int copy) {
  DIR *folder = opendir(path);
  if (folder == NULL) abort();
  for (struct dirent *each; (each = readdir(folder)) != NULL;) {
    struct stat stats;
    if (strcmp(each->d_name, ".") == 0 || strcmp(each->d_name, "..") == 0) continue;
    if (fstatat(dirfd(folder), each->d_name, &stats, AT_SYMLINK_NOFOLLOW) == 0)
      dprintf(copy, "%lu %s\n", (unsigned long)stats.st_ino, each->d_name);
  }
  closedir(folder);
}

static void keep(int fd, const char *path) {
  const char *folder = getenv("DISK_KEPT");
  char kept[4096], fresh[4128];
  struct stat stats;
  if (folder == NULL) return;
  if (fstat(fd, &stats) != 0) abort();
  int names = S_ISDIR(stats.st_mode);
  snprintf(kept, sizeof kept, "%s/%s-%lu", folder, names ? "names" : "bytes", (unsigned long)stats.st_ino);
  snprintf(fresh, sizeof fresh, "%s.%d", kept, gettid());
  int copy = open(fresh, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (copy < 0) abort();
  if (names) keep_names(path, copy);
  else keep_bytes(fd, path, copy);
  if (close(copy) != 0 || syscall(SYS_renameat, AT_FDCWD, fresh, AT_FDCWD, kept) != 0) abort();
}

/* The path of a file below the folder, else NULL. */
static const char *watched(int fd, char *path, size_t size) {
  const char *folder = getenv("DISK_FOLDER");
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, size - 1);
  if (folder == NULL || length < 0) return NULL;
  path[length] = '\0';
  return strncmp(path, folder, strlen(folder)) == 0 ? path : NULL;
}

/* Whether the file that this variable names is there. */
static int on(const char *variable) {
  const char *file = getenv(variable);
  return file != NULL && access(file, F_OK) == 0;
}

static void wait_for_removal(const char *file) {
  int held = open(file, O_WRONLY | O_APPEND);
  if (held >= 0 && (write(held, "x", 1) != 1 || close(held) != 0)) abort();
  while (access(file, F_OK) == 0) usleep(1000);
}

/* Whether this call is the one to fail. */
static int fails(const char *call) {
  static _Atomic int calls = 0;
  char number[32] = "";
  int file = getenv("DISK_FAILING") == NULL ? -1 : open(getenv("DISK_FAILING"), O_RDWR);
  if (file < 0) return 0;
  if (read(file, number, sizeof number - 1) < 0) abort();
  int wanted = atoi(number), failing = 0;
  int lasting = strchr(number, '+') != NULL;
  if (wanted == 0) failing = lasting;
  else if ((failing = ++calls == wanted)) {
    calls = 0;
    if (ftruncate(file, 0) != 0 || lseek(file, 0, SEEK_SET) != 0) abort();
    dprintf(file, "%s%s", call, lasting ? "+" : "");
  }
  close(file);
  if (!failing) return 0;
  errno = EIO;
  return 1;
}

static int synced(int fd, const char *call) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, call);
  char path[4096];
  if (watched(fd, path, sizeof path) == NULL) return real(fd);
  if (on("DISK_HELD")) wait_for_removal(getenv("DISK_HELD"));
  if (on("DISK_BROKEN")) {
    errno = EIO;
    return -1;
  }
  if (fails("sync")) return -1;
  int result = real(fd);
  if (result == 0) keep(fd, path);
  return result;
}

int fsync(int fd) { return synced(fd, "fsync"); }
int fdatasync(int fd) { return synced(fd, "fdatasync"); }

static int is_below(const char *path) {
  const char *folder = getenv("DISK_FOLDER");
  return folder != NULL && strncmp(path, folder, strlen(folder)) == 0;
}

/* The place for a file that loses its last name: its inode goes to no other file meanwhile. NULL for anything else. */
static const char *gone(const char *path, char *place, size_t size) {
  struct stat stats;
  if (getenv("DISK_KEPT") == NULL || lstat(path, &stats) != 0 || !S_ISREG(stats.st_mode) || stats.st_nlink != 1)
    return NULL;
  snprintf(place, size, "%s/gone-%lu", getenv("DISK_KEPT"), (unsigned long)stats.st_ino);
  return place;
}

/* The power goes. */
static void cut_if(int reached) {
  if (reached) kill(getpid(), SIGKILL);
}

int rename(const char *from, const char *to) {
  int (*real)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
  char place[4096];
  if (!is_below(to)) return real(from, to);
  if (fails("rename")) return -1;
  if (gone(to, place, sizeof place) != NULL && syscall(SYS_linkat, AT_FDCWD, to, AT_FDCWD, place, 0) != 0) abort();
  int result = real(from, to);
  cut_if(result == 0 && getenv("DISK_CUT") != NULL && strcmp(strrchr(to, '/'), getenv("DISK_CUT")) == 0);
  return result;
}

int link(const char *from, const char *to) {
  int (*real)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "link");
  return is_below(to) && fails("link") ? -1 : real(from, to);
}

/* Whether a removal is done, with its result. */
static int removes(const char *path, int *result) {
  char place[4096];
  if (!is_below(path) || access(path, F_OK) != 0) return 0;
  if (fails("removal")) *result = -1;
  else if (gone(path, place, sizeof place) == NULL) return 0;
  else *result = (int)syscall(SYS_renameat, AT_FDCWD, path, AT_FDCWD, place);
  return 1;
}

/* SQLite's way. */
int unlink(const char *path) {
  int (*real)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "unlink");
  int result;
  return removes(path, &result) ? result : real(path);
}

/* Ways of Node.js. */
int remove(const char *path) {
  int (*real)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "remove");
  int result;
  return removes(path, &result) ? result : real(path);
}

int unlinkat(int folder, const char *path, int flags) {
  int (*real)(int, const char *, int) = (int (*)(int, const char *, int))dlsym(RTLD_NEXT, "unlinkat");
  int result;
  return folder == AT_FDCWD && flags == 0 && removes(path, &result) ? result : real(folder, path, flags);
}

static int has_words(const char *bytes, size_t size) {
  const char *words = getenv("DISK_CUT");
  return words != NULL && memmem(bytes, size, words, strlen(words)) != NULL;
}

ssize_t write(int fd, const void *bytes, size_t size) {
  ssize_t (*real)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
  ssize_t written = real(fd, bytes, size);
  cut_if(fd == 1 && has_words(bytes, size));
  return written;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  ssize_t (*real)(int, const struct iovec *, int) =
      (ssize_t(*)(int, const struct iovec *, int))dlsym(RTLD_NEXT, "writev");
  ssize_t written = real(fd, parts, count);
  for (int i = 0; fd == 1 && i < count; i += 1) cut_if(has_words(parts[i].iov_base, parts[i].iov_len));
  return written;
}

/* SQLite alone reads at a position, and only its files. */
ssize_t pread64(int fd, void *buffer, size_t size, off64_t at) {
  ssize_t (*real)(int, void *, size_t, off64_t) = (ssize_t(*)(int, void *, size_t, off64_t))dlsym(RTLD_NEXT, "pread64");
  const char *unreadable = getenv("DISK_UNREADABLE");
  char path[4096], number[32] = "";
  int broken = unreadable == NULL ? -1 : open(unreadable, O_RDONLY);
  if (broken < 0) return real(fd, buffer, size, at);
  ssize_t length = read(broken, number, sizeof number - 1);
  close(broken);
  if (length <= 0 || watched(fd, path, sizeof path) == NULL) return real(fd, buffer, size, at);
  errno = atoi(number);
  return -1;
}

/* Node.js alone looks at a name by the bare system call; SQLite calls stat. */
long syscall(long number, ...) {
  long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  const char *folder = getenv("DISK_FOLDER");
  long given[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; i += 1) given[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_statx && on("DISK_UNSEEN") && strncmp((const char *)given[1], folder, strlen(folder)) == 0) {
    errno = EIO;
    return -1;
  }
  return real(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}

int statfs64(const char *path, struct statfs64 *stats) {
  int (*real)(const char *, struct statfs64 *) =
      (int (*)(const char *, struct statfs64 *))dlsym(RTLD_NEXT, "statfs64");
  int result = real(path, stats);
  if (is_below(path) && getenv("DISK_TYPE") != NULL) stats->f_type = strtol(getenv("DISK_TYPE"), NULL, 0);
  return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *), void *argument) {
  int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
      (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
  return on("DISK_THREADLESS") ? EAGAIN : real(thread, attributes, begin, argument);
}
