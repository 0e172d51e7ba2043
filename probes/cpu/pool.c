// A pool of pinned threads that runs programs of operations with a spinning
// barrier after each. Spinning, because a decode step has hundreds of
// operations of a few microseconds: a futex wake would be the step.
#define _GNU_SOURCE
#include "kernels.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#if defined(__x86_64__)
#define PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define PAUSE() __asm__ volatile("yield")
#else
#define PAUSE() ((void)0)
#endif

// After so many turns a waiter lets others run: with more threads than CPUs,
// or beside a neighbour, pure spinning would keep the awaited one from its CPU.
enum { SPINS_BEFORE_YIELD = 20000 };

typedef struct {
	_Alignas(64) atomic_uint arrived;
	_Alignas(64) atomic_uint turn;
} barrier;

typedef struct {
	dg_pool *pool;
	pthread_t thread;
	int part, cpu;
} worker;

struct dg_pool {
	barrier barrier;
	int threads;
	worker *workers;

	// The work at hand, published by the barrier that starts it.
	const dg_op *ops;
	int64_t total;
	atomic_int stop; // no operation from this one on
	int quit;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	unsigned job;
};

static void barrier_wait(barrier *b, unsigned threads) {
	unsigned turn = atomic_load_explicit(&b->turn, memory_order_acquire);
	if (atomic_fetch_add_explicit(&b->arrived, 1, memory_order_acq_rel) + 1 == threads) {
		atomic_store_explicit(&b->arrived, 0, memory_order_relaxed);
		atomic_store_explicit(&b->turn, turn + 1, memory_order_release);
		return;
	}
	for (int spins = 0; atomic_load_explicit(&b->turn, memory_order_acquire) == turn;) {
		PAUSE();
		if (++spins == SPINS_BEFORE_YIELD) {
			spins = 0;
			sched_yield();
		}
	}
}

static int64_t now_ns(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void pin(int cpu) {
	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return;
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

// Runs the part of every operation. Thread 0 alone looks at the clock and at
// cancel, and decides before the barrier, so that all parts stop at one place.
static int64_t work(dg_pool *p, int part, int nops, int64_t *op_ns, int64_t *run_ns, const int *cancel) {
	int64_t i = 0, begin = 0, start = 0;
	barrier_wait(&p->barrier, p->threads);
	if (part == 0)
		begin = start = now_ns();
	for (; i < p->total; i++) {
		if (atomic_load_explicit(&p->stop, memory_order_relaxed))
			break;
		const dg_op *op = &p->ops[i];
		op->run(op, part, p->threads);
		if (part == 0 && dg_raised(cancel))
			atomic_store_explicit(&p->stop, 1, memory_order_relaxed);
		barrier_wait(&p->barrier, p->threads);
		if (part != 0)
			continue;
		if (op_ns || (run_ns && (i + 1) % nops == 0)) {
			int64_t t = now_ns();
			if (op_ns)
				op_ns[i] = t - begin;
			if ((i + 1) % nops == 0) {
				if (run_ns)
					run_ns[i / nops] = t - start;
				start = t;
			}
			begin = t;
		}
	}
	// Nobody may start the next job while a part still reads this one.
	barrier_wait(&p->barrier, p->threads);
	return i;
}

static void *serve(void *arg) {
	worker *w = arg;
	dg_pool *p = w->pool;
	pin(w->cpu);
	for (unsigned seen = 0;;) {
		pthread_mutex_lock(&p->lock);
		while (p->job == seen && !p->quit)
			pthread_cond_wait(&p->wake, &p->lock);
		seen = p->job;
		int quit = p->quit;
		pthread_mutex_unlock(&p->lock);
		if (quit)
			return NULL;
		work(p, w->part, 1, NULL, NULL, NULL);
	}
}

dg_pool *dg_pool_new(int threads, const int *cpus) {
	if (threads < 1)
		return NULL;
	dg_pool *p = aligned_alloc(64, (sizeof *p + 63) / 64 * 64);
	if (!p)
		return NULL;
	*p = (dg_pool){.threads = 1};
	p->workers = calloc(threads, sizeof *p->workers);
	if (!p->workers) {
		free(p);
		return NULL;
	}
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->wake, NULL);
	p->workers[0] = (worker){.pool = p, .cpu = cpus ? cpus[0] : -1};
	for (int i = 1; i < threads; i++) {
		p->workers[i] = (worker){.pool = p, .part = i, .cpu = cpus ? cpus[i] : -1};
		if (pthread_create(&p->workers[i].thread, NULL, serve, &p->workers[i])) {
			dg_pool_free(p);
			return NULL;
		}
		p->threads = i + 1;
	}
	return p;
}

void dg_pool_free(dg_pool *p) {
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->quit = 1;
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
	for (int i = 1; i < p->threads; i++)
		pthread_join(p->workers[i].thread, NULL);
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->lock);
	free(p->workers);
	free(p);
}

int dg_pool_run(dg_pool *p, const dg_op *ops, int nops, int programs,
                int64_t *op_ns, int64_t *run_ns, const int *cancel) {
	if (nops < 1 || programs < 1)
		return 0;
	cpu_set_t before;
	int pinned = p->workers[0].cpu >= 0 && !pthread_getaffinity_np(pthread_self(), sizeof before, &before);
	if (pinned)
		pin(p->workers[0].cpu);
	pthread_mutex_lock(&p->lock);
	p->ops = ops;
	p->total = (int64_t)nops * programs;
	atomic_store(&p->stop, 0);
	p->job++;
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
	int64_t done = work(p, 0, nops, op_ns, run_ns, cancel);
	if (pinned)
		pthread_setaffinity_np(pthread_self(), sizeof before, &before);
	return (int)(done / nops);
}

int dg_pool_wake(dg_pool *p, int n, int64_t pause_ns, int64_t *ns, const int *cancel) {
	cpu_set_t before;
	int pinned = p->workers[0].cpu >= 0 && !pthread_getaffinity_np(pthread_self(), sizeof before, &before);
	if (pinned)
		pin(p->workers[0].cpu);
	int i = 0;
	for (; i < n && !dg_raised(cancel); i++) {
		struct timespec pause = {.tv_nsec = pause_ns};
		nanosleep(&pause, NULL);
		int64_t begin = now_ns();
		pthread_mutex_lock(&p->lock);
		p->total = 0;
		p->job++;
		pthread_cond_broadcast(&p->wake);
		pthread_mutex_unlock(&p->lock);
		barrier_wait(&p->barrier, p->threads);
		ns[i] = now_ns() - begin;
		barrier_wait(&p->barrier, p->threads); // as work ends
	}
	if (pinned)
		pthread_setaffinity_np(pthread_self(), sizeof before, &before);
	return i;
}

enum { HUGE = 2 << 20 };

void *dg_alloc(size_t bytes) {
	size_t size = (bytes + 2 * (size_t)HUGE - 1) / HUGE * HUGE;
	char *p = mmap(NULL, size + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	// Give back what lies outside whole huge pages.
	size_t head = (HUGE - (uintptr_t)p % HUGE) % HUGE;
	if (head)
		munmap(p, head);
	if (HUGE - head)
		munmap(p + head + size, HUGE - head);
#ifdef MADV_HUGEPAGE
	if (bytes >= HUGE / 4) // clearing a huge page for a few lines costs more than it brings
		madvise(p + head, size, MADV_HUGEPAGE);
#endif
	return p + head;
}

void dg_free(void *p, size_t bytes) {
	if (p)
		munmap(p, (bytes + 2 * (size_t)HUGE - 1) / HUGE * HUGE);
}
