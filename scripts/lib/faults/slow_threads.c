/* Delays thread exits: destructors of a thread run 200 ms late, and the exiting process waits for them. To be
 * preloaded: cc -shared -fPIC -O1 -o slow_threads.so slow_threads.c -ldl */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct ending {
    void (*drop)(void *);
    void *value;
};

static void later(void *argument) {
    struct ending *ending = argument;
    if (syscall(SYS_gettid) != getpid()) usleep(200000);
    ending->drop(ending->value);
    free(ending);
}

int __cxa_thread_atexit_impl(void (*drop)(void *), void *value, void *library) {
    int (*next)(void (*)(void *), void *, void *) = dlsym(RTLD_NEXT, "__cxa_thread_atexit_impl");
    struct ending *ending = malloc(sizeof *ending);
    ending->drop = drop;
    ending->value = value;
    return next(later, ending, library);
}

__attribute__((destructor)) static void wait_for_threads(void) {
    usleep(1000000);
}
