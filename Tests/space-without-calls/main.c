// space-without-calls EPERM|ENOSYS CALL[,CALL…] -- PROGRAM [WORD…]
//
// Becomes a program for which the kernel refuses some system calls with an error, as a container's seccomp profile does
// (seccomp(2), SECCOMP_RET_ERRNO). Exits with 64 for words that it does not understand, with 69 if filters are not
// available, with 127 if the program can't be run.

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct call {
    const char *name;
    unsigned number;
};

#define CALL(name) {#name, SYS_##name}

static const struct call calls[] = {
    CALL(pidfd_open),     CALL(pidfd_send_signal), CALL(renameat2),     CALL(fallocate),   CALL(inotify_init1),
    CALL(inotify_add_watch), CALL(inotify_rm_watch), CALL(epoll_create1), CALL(epoll_ctl), CALL(epoll_pwait),
    CALL(eventfd2),       CALL(timerfd_create),    CALL(timerfd_settime), CALL(prctl),     CALL(madvise),
    CALL(sched_getaffinity), CALL(sched_yield),    CALL(fstatfs),       CALL(prlimit64),   CALL(statx),
    CALL(getrandom),      CALL(msync),             CALL(fsync),         CALL(fchown),      CALL(fchmod),
    CALL(clone3),         CALL(memfd_create),      CALL(copy_file_range), CALL(membarrier), CALL(rseq),
    CALL(set_robust_list), CALL(socketpair),       CALL(mlock),         CALL(setpriority), CALL(kill),
    CALL(symlinkat),      CALL(sendfile),          CALL(splice),        CALL(ftruncate),
#ifdef SYS_epoll_wait
    CALL(epoll_wait),
#endif
#ifdef SYS_getrlimit
    CALL(getrlimit),
#endif
};

enum { count = sizeof calls / sizeof *calls, most = 32 };

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the seccomp filter knows x86-64 and arm64"
#endif

static int number_of(const char *name, size_t length) {
    for (int index = 0; index < count; index++) {
        if (strlen(calls[index].name) == length && !memcmp(calls[index].name, name, length)) {
            return (int)calls[index].number;
        }
    }
    return -1;
}

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "--list")) {
        for (int index = 0; index < count; index++) puts(calls[index].name);
        return 0;
    }
    if (argc < 5 || strcmp(argv[3], "--")) {
        fprintf(stderr, "usage: %s EPERM|ENOSYS CALL[,CALL...] -- PROGRAM [WORD...]\n", argv[0]);
        return 64;
    }
    int error = !strcmp(argv[1], "EPERM") ? EPERM : !strcmp(argv[1], "ENOSYS") ? ENOSYS : 0;
    if (!error) {
        fprintf(stderr, "%s is no error\n", argv[1]);
        return 64;
    }

    struct sock_filter program[5 + 2 * most];
    int length = 0;
    program[length++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    program[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    int refused = 0;
    for (const char *name = argv[2]; *name;) {
        size_t size = strcspn(name, ",");
        int number = number_of(name, size);
        if (number < 0 || refused++ == most) {
            fprintf(stderr, "%.*s is no system call that can be refused here\n", (int)size, name);
            return 64;
        }
        program[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1);
        program[length++] =
            (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA));
        name += size + (name[size] == ',');
    }
    program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {.len = (unsigned short)length, .filter = program};
    // prctl(2): without no_new_privs a filter takes CAP_SYS_ADMIN.
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) {
        perror("seccomp");
        return 69;
    }
    execvp(argv[4], argv + 4);
    perror(argv[4]);
    return 127;
}
