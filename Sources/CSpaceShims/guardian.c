// The guardian: a process between a process and the program that it runs.
//
// A parent-death signal (prctl(2), PR_SET_PDEATHSIG) reaches the program alone, and what the program has started would go on
// beside the next holder of a lock. A process group would be killed as a whole, but one of its own takes the terminal away
// from an editor, and every shell with job control gives its jobs others. So the guardian is a subreaper: every
// descendant of the program that loses its parent becomes the guardian's child, whatever group or session it is in. It
// kills its children until none is left.
//
// The guardian is in a process group of its own: what a terminal sends (^C, ^Z) is for the program, and what is sent to the
// group of the process above does not keep the guardian from its work. The program stays in the group in which it
// would be without a guardian, so it keeps the terminal.
//
// Who may die, and when: the process above is killed: the guardian gets SPACE_END from the kernel. The guardian is killed: the
// program gets SIGKILL from the kernel, and its descendants become children of the next subreaper above; a process
// that is one (space_adopt_orphans) kills them. Both are killed at the same instant: the program gets SIGKILL, and
// only its descendants are left.
//
// When the program has ended, the guardian does not decide what becomes of the descendants that are left. A signal that
// ended the program may have gone to the process above too, and which of them acts on it first is chance. So the
// guardian writes a byte to a pipe and waits for the answer: SPACE_LEAVE, SPACE_SWEEP, or SPACE_END when the
// process above dies before it has answered. A signal to a whole process group is pending for each member before one of
// them can be waited for (kernel/signal.c, kernel/exit.c: both hold tasklist_lock), so the process above knows of it when it reads the byte.
//
// After fork(2) in a process with threads other threads' locks are as they were, so nothing below allocates or locks
// (signal-safety(7)); glibc's execvp searches the path on its stack.

#define _GNU_SOURCE
#include "space_guardian.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "result.h"
#include "space_processes.h"

// Signals that no program expects; only a guardian gets them.
// sigwaitinfo(2) returns the lowest number first: of an answer and a death right after it the answer counts.
#define SPACE_LEAVE (SIGRTMIN + 5)
#define SPACE_SWEEP (SIGRTMIN + 6)
#define SPACE_END (SIGRTMIN + 7)

// MARK: Children

// Reads a whole small file of proc(5). Returns its length, or -1.
static long read_small(int directory, const char *name, char *buffer, long size) {
    int file = (int)SPACE_RETRYING(openat(directory, name, O_RDONLY | O_CLOEXEC));
    if (file < 0) return -1;
    long length = 0, count = 0;
    while (length < size - 1 && (count = SPACE_RETRYING(read(file, buffer + length, (size_t)(size - 1 - length)))) > 0)
        length += count;
    close(file);
    buffer[length] = 0;
    return count < 0 ? -1 : length;
}

// The number in decimal digits that a text is, or -1.
static long number(const char *text) {
    long value = 0;
    if (*text < '0' || *text > '9') return -1;
    for (; *text >= '0' && *text <= '9'; text++) {
        value = value * 10 + (*text - '0');
        if (value > INT32_MAX) return -1;
    }
    return *text == 0 || *text == ' ' || *text == '\n' ? value : -1;
}

// The fields of a /proc/PID/stat behind the command's last parenthesis, of which the first is number 3; NULL if there is none.
static const char *stat_field(const char *stat, int index) {
    const char *field = strrchr(stat, ')');
    for (int at = 2; field && at < index; at++) {
        field = strchr(field, ' ');
        if (field) field++;
    }
    return field;
}

struct entry {
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

// Sends SIGKILL to all children of this process. Returns to how many, or -1 where they can't be listed.
static int kill_children(void) {
    // Where /proc is another PID namespace's, its numbers are others' processes.
    char text[4096];
    long length = readlink("/proc/self", text, sizeof text - 1);
    if (length <= 0) return -1;
    text[length] = 0;
    if (number(text) != getpid()) return -1;
    int listing = (int)SPACE_RETRYING(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (listing < 0) return -1;
    int killed = 0;
    _Alignas(struct entry) char buffer[16384];
    long filled;
    while ((filled = syscall(SYS_getdents64, listing, buffer, sizeof buffer)) > 0) {
        for (long at = 0; at < filled;) {
            struct entry *entry = (struct entry *)(buffer + at);
            at += entry->length;
            pid_t pid = (pid_t)number(entry->name);
            if (pid <= 0) continue;
            char name[32] = {0};
            size_t digits = strlen(entry->name);
            if (digits > 16) continue;
            memcpy(name, entry->name, digits);
            memcpy(name + digits, "/stat", 6);
            if (read_small(listing, name, text, sizeof text) < 0) continue;
            const char *parent = stat_field(text, 4);
            if (!parent || number(parent) != getpid()) continue;
            // waitid(2): ECHILD unless it is a child of this process. So the number is no other's, and stays its own until it is
            // waited for.
            siginfo_t info;
            if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0) continue;
            if (kill(pid, SIGKILL) == 0) killed++;
        }
    }
    close(listing);
    return killed;
}

void space_end_children(void) {
    // Each round kills a generation at least. A bound against those that start processes faster than they can be killed.
    for (int round = 0; round < 10000; round++) {
        if (kill_children() <= 0) return;
        if (SPACE_RETRYING(waitpid(-1, NULL, 0)) < 0) return;
        while (waitpid(-1, NULL, WNOHANG) > 0) {}
    }
}

int space_adopt_orphans(void) { return space_result(prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL)); }

// MARK: The program

static void become(const char *file, char *const *words, int input, int output, uint64_t resetSignals, pid_t parent,
                   int report, const sigset_t *mask) {
    // All signals are blocked here: none of the handlers above runs in the child.
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) < 0) continue;
        bool isDefault = action.sa_handler == SIG_DFL;
        bool staysIgnored = action.sa_handler == SIG_IGN && !(number < 64 && resetSignals >> number & 1);
        if (!isDefault && !staysIgnored) signal(number, SIG_DFL);
    }
    int result = space_die_with_parent(SIGKILL, parent);
    // ESRCH: the parent has died already, so no signal will come.
    if (result == -ESRCH) _exit(127);
    if (result == 0) {
        if (input == STDIN_FILENO) {
            result = space_result(fcntl(input, F_SETFD, 0));
        } else {
            result = space_result(dup2(input, STDIN_FILENO));
        }
    }
    if (result >= 0 && output >= 0) result = space_result(dup2(output, STDOUT_FILENO));
    if (result >= 0) {
        sigprocmask(SIG_SETMASK, mask, NULL);
        execvp(file, words);
        result = -errno;
    }
    SPACE_RETRYING(write(report, &result, sizeof result));
    _exit(127);
}

// MARK: The guardian

static void close_all_but(int kept) {
#ifdef SYS_close_range
    bool isDone = kept == 0 || syscall(SYS_close_range, 0U, (unsigned)kept - 1, 0U) == 0;
    if (isDone && syscall(SYS_close_range, (unsigned)kept + 1, ~0U, 0U) == 0) return;
#endif
    struct rlimit limit;
    long end = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (long)limit.rlim_cur : 65536;
    for (long descriptor = 0; descriptor < end; descriptor++) {
        if (descriptor != kept) close((int)descriptor);
    }
}

// A user who kills processes by name or command line means the process above. The guardian has a name of its own, so that it
// survives and ends the rest.
static void take_name(void) {
    static const char name[] = "space-guardian";
    prctl(PR_SET_NAME, (unsigned long)name, 0UL, 0UL, 0UL);
    char stat[4096];
    if (read_small(AT_FDCWD, "/proc/self/stat", stat, sizeof stat) < 0) return;
    // proc(5): fields 48 and 49 are where the command line lies, on this process's stack.
    const char *start = stat_field(stat, 48);
    const char *end = stat_field(stat, 49);
    if (!start || !end) return;
    char *from = (char *)strtoul(start, NULL, 10);
    char *to = (char *)strtoul(end, NULL, 10);
    // 0: not shown to this process.
    if (!from || to <= from || to - from > 1 << 21) return;
    memset(from, 0, (size_t)(to - from));
    size_t length = sizeof name - 1;
    if ((size_t)(to - from) <= length) length = (size_t)(to - from) - 1;
    memcpy(from, name, length);
}

// The status of what waitid(2) has reaped, as a shell says it.
static int status_of(const siginfo_t *info) {
    return info->si_code == CLD_EXITED ? info->si_status & 0xFF : 128 + (info->si_status & 0x7F);
}

static _Noreturn void guard(pid_t child, int news) {
    setpgid(0, 0);
    close_all_but(news);
    take_name();
    sigset_t all;
    sigfillset(&all);
    bool hasEnded = false;
    int status = 128 + SIGKILL;
    while (true) {
        siginfo_t info;
        memset(&info, 0, sizeof info);
        // Orphans are waited for too. After the program's end its number may be one of theirs.
        while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG) == 0 && info.si_pid != 0) {
            if (info.si_pid == child && !hasEnded) {
                hasEnded = true;
                status = status_of(&info);
                // A process above that has died gets no byte, and SPACE_END comes.
                SPACE_RETRYING(write(news, "", 1));
            }
            info.si_pid = 0;
        }
        int signal = sigwaitinfo(&all, &info);
        if (signal < 0) continue;
        if (signal == SPACE_LEAVE || signal == SPACE_SWEEP || signal == SPACE_END) {
            // An answer to what was not asked.
            if (!hasEnded && signal != SPACE_END) continue;
            if (!hasEnded) kill(child, SIGKILL);
            if (signal != SPACE_LEAVE) space_end_children();
            _exit(status);
        }
        // What the kernel sends (SIGCHLD, and until the group was changed what a terminal did) is not for the program.
        if (!hasEnded && signal != SIGCHLD && info.si_code <= 0) kill(child, signal);
    }
}

static _Noreturn void begin(const char *file, char *const *words, int input, int output, uint64_t resetSignals,
                            pid_t parent, int report, int news, const sigset_t *mask) {
    int result = space_die_with_parent(SPACE_END, parent);
    if (result == -ESRCH) _exit(127);
    if (result == 0) {
        // Where it may not be one, only the program is killed.
        space_adopt_orphans();
        pid_t self = getpid();
        // SIGCHLD ignored would mean that no child can be waited for (wait(2)).
        signal(SIGCHLD, SIG_DFL);
        pid_t child = fork();
        if (child == 0) become(file, words, input, output, resetSignals, self, report, mask);
        result = space_result(child);
        if (child > 0) guard(child, news);
    }
    SPACE_RETRYING(write(report, &result, sizeof result));
    _exit(127);
}

// MARK: The process above

int space_spawn_guarded(const char *file, char *const *words, int input, int output, uint64_t resetSignals, int *news) {
    // Closed by a successful exec, so that end of file says that it was one.
    int ends[2];
    int result = space_result(pipe2(ends, O_CLOEXEC));
    if (result < 0) return result;
    int newsEnds[2];
    result = space_result(pipe2(newsEnds, O_CLOEXEC));
    if (result < 0) {
        close(ends[0]);
        close(ends[1]);
        return result;
    }
    sigset_t all, mask;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    pid_t parent = getpid();
    pid_t guardian = fork();
    if (guardian == 0) begin(file, words, input, output, resetSignals, parent, ends[1], newsEnds[1], &mask);
    result = space_result(guardian);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    close(ends[1]);
    close(newsEnds[1]);
    int failure = 0;
    if (guardian > 0 && SPACE_RETRYING(read(ends[0], &failure, sizeof failure)) == sizeof failure) {
        // A guardian whose program has ended waits for an answer.
        kill(guardian, SPACE_END);
        SPACE_RETRYING(waitpid(guardian, NULL, 0));
        // What was refused to the child was refused there: of what it does, that is prctl(2) alone.
        result = space_optional("prctl", failure == -EPERM ? -EACCES : failure);
    }
    close(ends[0]);
    if (result < 0) {
        close(newsEnds[0]);
    } else {
        *news = newsEnds[0];
    }
    return result;
}

// Also to a guardian that is stopped.
static int tell(int32_t guardian, int signal) {
    int result = space_result(kill(guardian, signal));
    kill(guardian, SIGCONT);
    return result;
}

int space_end_guarded(int32_t guardian) { return tell(guardian, SPACE_END); }

int space_leave_guarded(int32_t guardian) { return tell(guardian, SPACE_LEAVE); }

int space_sweep_guarded(int32_t guardian) { return tell(guardian, SPACE_SWEEP); }
