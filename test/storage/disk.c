/*
 * A disk that can lose power, is slow or fails, for a process that is started with LD_PRELOAD. It knows the
 * files below the folder DISK_FOLDER:
 *   DISK_KEPT        a folder that holds, after each sync of a file, what the file was then: what a power cut leaves
 *   DISK_HELD        while this file exists, each sync adds a character to it and waits
 *   DISK_BROKEN      while this file exists, each sync fails with EIO
 *   DISK_UNREADABLE  while this file exists, each read of a database fails with the errno that it holds
 *   DISK_UNSEEN      while this file exists, nobody can look at a file by its name: the look fails with EIO
 *   DISK_THREADLESS  while this file exists, no thread starts, in whatever folder
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Reads through the descriptor at hand: to open and close the file again would drop this process's locks. */
static void keep(int fd, const char *name, const char *folder) {
  char kept[4096], fresh[4096], buffer[65536];
  snprintf(kept, sizeof kept, "%s/%s", folder, name);
  snprintf(fresh, sizeof fresh, "%s/.%s-%d", folder, name, gettid());
  int copy = open(fresh, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (copy < 0) abort();
  ssize_t got;
  for (off_t at = 0; (got = pread(fd, buffer, sizeof buffer, at)) > 0; at += got) {
    if (write(copy, buffer, got) != got) abort();
  }
  if (got < 0 || close(copy) != 0 || rename(fresh, kept) != 0) abort();
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

static int synced(int fd, const char *call) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, call);
  const char *kept = getenv("DISK_KEPT");
  char path[4096];
  if (watched(fd, path, sizeof path) == NULL) return real(fd);
  if (on("DISK_HELD")) wait_for_removal(getenv("DISK_HELD"));
  if (on("DISK_BROKEN")) {
    errno = EIO;
    return -1;
  }
  int result = real(fd);
  /* A sync of the folder itself is one of names; a name counts as kept with the first sync of its file. */
  if (result == 0 && kept != NULL && strlen(path) > strlen(getenv("DISK_FOLDER"))) {
    keep(fd, strrchr(path, '/') + 1, kept);
  }
  return result;
}

int fsync(int fd) { return synced(fd, "fsync"); }
int fdatasync(int fd) { return synced(fd, "fdatasync"); }

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

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *), void *argument) {
  int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
      (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
  return on("DISK_THREADLESS") ? EAGAIN : real(thread, attributes, begin, argument);
}
