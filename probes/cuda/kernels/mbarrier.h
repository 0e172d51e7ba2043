// Barriers in shared memory that count arrivals and bytes, and the copies that
// arrive at them (sm_90).
#pragma once
#include "device.h"

// Bytes of dynamic shared memory of a block.
DEVICE u32 dynamic_shared() {
	u32 r;
	asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(r));
	return r;
}

DEVICE void mbarrier_init(u32 a, u32 arrivals) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(a), "r"(arrivals) : "memory"); }
// Makes initialised barriers known to the copies, before a barrier of the block.
DEVICE void mbarrier_publish() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
DEVICE void mbarrier_arrive(u32 a) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(a) : "memory"); }
// Arrives, and lets the phase wait for so many bytes besides.
DEVICE void mbarrier_arrive_expecting(u32 a, u32 bytes) {
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(a), "r"(bytes) : "memory");
}
// Arrives once what this thread has copied so far by copy4, copy8 or copy16 is
// there.
DEVICE void mbarrier_arrive_copied(u32 a) { asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(a) : "memory"); }
// Waits for the end of the phase of a parity: 0 for the first.
DEVICE void mbarrier_wait(u32 a, u32 parity) {
	asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again; }" ::"r"(a), "r"(parity) : "memory");
}
// Copies whole 16 bytes, one thread's work; they arrive at a barrier.
DEVICE void copy_bulk(u32 to, const void *from, u32 bytes, u32 barrier) {
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(barrier) : "memory");
}
