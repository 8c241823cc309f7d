/*
 * A disk that can lose power, is slow or fails, for a process that is started with LD_PRELOAD. It knows the
 * files below the folder DISK_FOLDER:
 *   DISK_KEPT      a folder that holds, after each sync of a file, what the file was then: what a power cut leaves
 *   DISK_DELAY_US  microseconds that each sync takes longer
 *   DISK_BROKEN    while this file exists, each sync fails with EIO
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static int synced(int fd, const char *call) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, call);
  const char *folder = getenv("DISK_FOLDER"), *kept = getenv("DISK_KEPT");
  const char *delay = getenv("DISK_DELAY_US"), *broken = getenv("DISK_BROKEN");
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (folder == NULL || length < 0) return real(fd);
  path[length] = '\0';
  if (strncmp(path, folder, strlen(folder)) != 0) return real(fd);
  if (delay != NULL) usleep(atoi(delay));
  if (broken != NULL && access(broken, F_OK) == 0) {
    errno = EIO;
    return -1;
  }
  int result = real(fd);
  /* A sync of the folder itself is one of names; a name counts as kept with the first sync of its file. */
  if (result == 0 && kept != NULL && strlen(path) > strlen(folder)) keep(fd, strrchr(path, '/') + 1, kept);
  return result;
}

int fsync(int fd) { return synced(fd, "fsync"); }
int fdatasync(int fd) { return synced(fd, "fdatasync"); }
