// The guardian: a process between a program and the process that runs it ("the process above").
//
// Guarantees: When the thread that started the program ends, however its process does, the guardian kills the program
// and all of its descendants that it may kill.
//
// Two simpler ways fail. A parent-death signal (prctl(2), PR_SET_PDEATHSIG) reaches only the program, and the processes
// that the program has started would go on beside the next holder of a lock. A process group of the program's own could
// be killed as a whole, but it would take the terminal away from an editor, and every shell with job control puts its
// jobs into other groups. So the guardian is a subreaper: every descendant of the program that loses its parent becomes
// the guardian's child, whatever group or session it is in. The guardian kills its children until none is left.
//
// The guardian is in a session of its own. So a signal from the terminal (^C, ^Z) reaches the program but not the
// guardian, and a signal to the group of the process above does not stop the guardian's work. The program stays in the
// group in which it would be without a guardian, so it keeps the terminal. A group of the guardian's own in the same
// session would not do: the program, whose parent would then be in another group of its session, would keep its own group
// from being orphaned. With the program's end the group would become so, and if a process of it were stopped, the kernel
// would send SIGHUP to all of them (setpgid(2), kernel/exit.c): to the script that runs this, too.
//
// Deaths:
// - If the process above is killed, the kernel sends SPACE_END to the guardian.
// - If the guardian is killed, the kernel sends SIGKILL to the program. The program's descendants become children of
//   the next subreaper above; the process above kills them if it is that subreaper (space_adopt_orphans).
// - If both are killed at the same instant, the program gets SIGKILL, and only its descendants remain.
//
// When the program has ended, the guardian does not decide whether the remaining descendants are killed. The signal
// that ended the program may have gone to the process above too, and it is chance which of the two acts on it first. So
// the guardian writes a byte to a pipe and waits for the answer: SPACE_LEAVE, SPACE_SWEEP, or SPACE_END if the process
// above dies before it answers. A signal to a whole process group is pending for every member before any member can be
// waited for (kernel/signal.c, kernel/exit.c: both hold tasklist_lock), so the process above already has the signal
// when it reads the byte.
//
// A signal that the terminal sends to the whole process group reaches the program without the process above, which must
// not pass it on. Two cases differ. A program that has left the group did not get it; the guardian knows, because it
// has the program's PID and the group. And a signal may come before the program exists; then it is pending in the
// process above, which blocks all signals until the program was started, and not in the program. fork(2) happens either
// before a signal to a group or after it (kernel/fork.c: such a signal that comes meanwhile is pending in the child
// too). So the program, before it becomes what it is meant to be, reports what is pending in the process above and not
// in itself.
//
// After fork(2) in a process with threads, locks that other threads held stay locked in the child. So nothing below
// allocates or locks (signal-safety(7)); glibc's execvp searches the path on its stack.

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
// sigwaitinfo(2) returns the lowest number first: if the process above dies right after its answer, the answer counts.
#define SPACE_LEAVE (SIGRTMIN + 5)
#define SPACE_SWEEP (SIGRTMIN + 6)
#define SPACE_END (SIGRTMIN + 7)
// The process above passes a signal on. The value is its number, and whether it was sent to the whole process group.
// signal(7): one standard signal of a number is pending at most, so one for the program would be lost behind one that the
// guardian has got from the terminal, or that the program has got. A real-time signal queues.
#define SPACE_PASS_ON (SIGRTMIN + 4)
#define SPACE_OF_GROUP 256

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

// The decimal number at the beginning of a text, or -1.
static long number(const char *text) {
    long value = 0;
    if (*text < '0' || *text > '9') return -1;
    for (; *text >= '0' && *text <= '9'; text++) {
        value = value * 10 + (*text - '0');
        if (value > INT32_MAX) return -1;
    }
    return *text == 0 || *text == ' ' || *text == '\n' ? value : -1;
}

// A field of /proc/PID/stat, by its number, or NULL if there is none. Field 3 follows the command's last parenthesis.
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

// Sends SIGKILL to all children of this process. Returns to how many, or -1 if they can't be listed.
static int kill_children(void) {
    // If /proc belongs to another PID namespace, its numbers mean other processes.
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
            // waitid(2): ECHILD unless the process is a child of this one. The number of a child can't be given to
            // another process before the child is waited for.
            siginfo_t info;
            if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0) continue;
            if (kill(pid, SIGKILL) == 0) killed++;
        }
    }
    close(listing);
    return killed;
}

void space_end_children(void) {
    // Each round kills at least one generation. The number of rounds is bounded, in case the children start processes
    // faster than they can be killed.
    for (int round = 0; round < 10000; round++) {
        if (kill_children() <= 0) return;
        if (SPACE_RETRYING(waitpid(-1, NULL, 0)) < 0) return;
        while (waitpid(-1, NULL, WNOHANG) > 0) {}
    }
}

int space_adopt_orphans(void) { return space_result(prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL)); }

// MARK: The program

// What a guardian and its program tell the process above before the program runs.
struct report {
    // A negated error number.
    int result;
    // The signals that the process above has and the program has not, as bits.
    uint64_t missed;
};

static void tell_result(int report, int result) {
    struct report answer = {.result = result};
    SPACE_RETRYING(write(report, &answer, sizeof answer));
}

// The signals that are pending for another process as a whole, as bits; 0 if /proc does not tell.
static uint64_t pending_for(pid_t pid) {
    char path[32] = "/proc/", text[4096];
    char digits[12];
    int length = 0, end = 6;
    for (; pid > 0; pid /= 10) digits[length++] = (char)('0' + pid % 10);
    while (length > 0) path[end++] = digits[--length];
    memcpy(path + end, "/status", 8);
    if (read_small(AT_FDCWD, path, text, sizeof text) < 0) return 0;
    // proc(5): "ShdPnd:" and a mask, in which signal 1 is bit 0.
    const char *line = strstr(text, "\nShdPnd:");
    return line ? strtoull(line + 8, NULL, 16) << 1 : 0;
}

// Reports the signals that came to the process above before this process existed.
static void tell_missed(pid_t above, int report) {
    // This order: what comes in between is pending here, and counts as missed only if it is pending there.
    struct report answer = {.missed = pending_for(above)};
    sigset_t own;
    sigpending(&own);
    for (int number = 1; number < 64; number++) {
        if (sigismember(&own, number) == 1) answer.missed &= ~(UINT64_C(1) << number);
    }
    if (answer.missed != 0) SPACE_RETRYING(write(report, &answer, sizeof answer));
}

static void become(const char *file, char *const *words, int input, int output, uint64_t resetSignals, pid_t above,
                   pid_t parent, int report, const sigset_t *mask) {
    // All signals are blocked here, so no handler of the process above runs in the child.
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) < 0) continue;
        bool isDefault = action.sa_handler == SIG_DFL;
        bool staysIgnored = action.sa_handler == SIG_IGN && !(number < 64 && resetSignals >> number & 1);
        if (!isDefault && !staysIgnored) signal(number, SIG_DFL);
    }
    int result = space_die_with_parent(SIGKILL, parent);
    // ESRCH: the parent has already died, so no signal will come.
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
        tell_missed(above, report);
        sigprocmask(SIG_SETMASK, mask, NULL);
        execvp(file, words);
        result = -errno;
    }
    tell_result(report, result);
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

// Gives the guardian a name and command line of its own. A user who kills processes by name or command line means the
// process above; so the guardian survives, and kills the program and its descendants.
static void take_name(void) {
    static const char name[] = "space-guardian";
    prctl(PR_SET_NAME, (unsigned long)name, 0UL, 0UL, 0UL);
    char stat[4096];
    if (read_small(AT_FDCWD, "/proc/self/stat", stat, sizeof stat) < 0) return;
    // proc(5): fields 48 and 49 are the bounds of the command line, on this process's stack.
    const char *start = stat_field(stat, 48);
    const char *end = stat_field(stat, 49);
    if (!start || !end) return;
    char *from = (char *)strtoul(start, NULL, 10);
    char *to = (char *)strtoul(end, NULL, 10);
    // proc(5): 0 means that the kernel does not show the field to this process.
    if (!from || to <= from || to - from > 1 << 21) return;
    memset(from, 0, (size_t)(to - from));
    size_t length = sizeof name - 1;
    if ((size_t)(to - from) <= length) length = (size_t)(to - from) - 1;
    memcpy(from, name, length);
}

// The exit status of a process that waitid(2) has reaped, in a shell's numbers.
static int status_of(const siginfo_t *info) {
    return info->si_code == CLD_EXITED ? info->si_status & 0xFF : 128 + (info->si_status & 0x7F);
}

static _Noreturn void guard(pid_t child, pid_t group, int news) {
    setsid();
    close_all_but(news);
    take_name();
    sigset_t all;
    sigfillset(&all);
    bool hasEnded = false;
    int status = 128 + SIGKILL;
    while (true) {
        siginfo_t info;
        memset(&info, 0, sizeof info);
        // Orphans are waited for too. After the program's end one of them may have its number.
        while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG) == 0 && info.si_pid != 0) {
            if (info.si_pid == child && !hasEnded) {
                hasEnded = true;
                status = status_of(&info);
                // If the process above has died, the write fails, and SPACE_END comes.
                SPACE_RETRYING(write(news, "", 1));
            }
            info.si_pid = 0;
        }
        int signal = sigwaitinfo(&all, &info);
        if (signal < 0) continue;
        if (signal == SPACE_LEAVE || signal == SPACE_SWEEP || signal == SPACE_END) {
            // The guardian ignores an answer that comes before the program's end.
            if (!hasEnded && signal != SPACE_END) continue;
            if (!hasEnded) kill(child, SIGKILL);
            if (signal != SPACE_LEAVE) space_end_children();
            _exit(status);
        }
        if (hasEnded || signal == SIGCHLD) continue;
        // Signals from the kernel are not passed on: those from the terminal before the group was changed.
        if (info.si_code > 0) continue;
        bool isToGroup = false;
        if (signal == SPACE_PASS_ON && info.si_code == SI_QUEUE) {
            isToGroup = info.si_value.sival_int & SPACE_OF_GROUP;
            signal = info.si_value.sival_int & ~SPACE_OF_GROUP;
        }
        if (!isToGroup || getpgid(child) != group) kill(child, signal);
    }
}

static _Noreturn void begin(const char *file, char *const *words, int input, int output, uint64_t resetSignals,
                            pid_t parent, int report, int news, const sigset_t *mask) {
    int result = space_die_with_parent(SPACE_END, parent);
    if (result == -ESRCH) _exit(127);
    if (result == 0) {
        // If the guardian can't become a subreaper, only the program is killed.
        space_adopt_orphans();
        pid_t self = getpid(), group = getpgrp();
        // wait(2): if SIGCHLD is ignored, no child can be waited for.
        signal(SIGCHLD, SIG_DFL);
        pid_t child = fork();
        if (child == 0) become(file, words, input, output, resetSignals, parent, self, report, mask);
        result = space_result(child);
        if (child > 0) guard(child, group, news);
    }
    tell_result(report, result);
    _exit(127);
}

// MARK: The process above

int space_spawn_guarded(const char *file, char *const *words, int input, int output, uint64_t resetSignals,
                        int32_t (*mayStart)(void), uint64_t *missed, int *news) {
    // A successful exec closes this pipe, so end of file means success.
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
    pid_t guardian = -1;
    if (mayStart && !mayStart()) {
        result = -ECANCELED;
    } else {
        guardian = fork();
        if (guardian == 0) begin(file, words, input, output, resetSignals, parent, ends[1], newsEnds[1], &mask);
        result = space_result(guardian);
    }
    close(ends[1]);
    close(newsEnds[1]);
    struct report report;
    *missed = 0;
    while (guardian > 0 && SPACE_RETRYING(read(ends[0], &report, sizeof report)) == sizeof report) {
        *missed |= report.missed;
        if (report.result == 0) continue;
        // After a failed exec the child has exited, and its guardian waits for an answer.
        kill(guardian, SPACE_END);
        SPACE_RETRYING(waitpid(guardian, NULL, 0));
        // If a call was refused, it was refused in the child; the only such call there is prctl(2).
        result = space_optional("prctl", report.result == -EPERM ? -EACCES : report.result);
        break;
    }
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    close(ends[0]);
    if (result < 0) {
        close(newsEnds[0]);
    } else {
        *news = newsEnds[0];
    }
    return result;
}

// Sends a signal to the guardian, and lets it go on if it is stopped.
static int tell(int32_t guardian, int signal) {
    int result = space_result(kill(guardian, signal));
    kill(guardian, SIGCONT);
    return result;
}

int space_pass_on_guarded(int32_t guardian, int signal, bool isToGroup) {
    union sigval value = {.sival_int = signal | (isToGroup ? SPACE_OF_GROUP : 0)};
    int result = space_result(sigqueue(guardian, SPACE_PASS_ON, value));
    // sigqueue(3): the user has no signal left to queue.
    if (result == -EAGAIN && !isToGroup) result = space_result(kill(guardian, signal));
    return result;
}

int space_end_guarded(int32_t guardian) { return tell(guardian, SPACE_END); }

int space_leave_guarded(int32_t guardian) { return tell(guardian, SPACE_LEAVE); }

int space_sweep_guarded(int32_t guardian) { return tell(guardian, SPACE_SWEEP); }
