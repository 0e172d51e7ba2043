// The few types and instructions that the kernels need, so that they build
// with clang alone: no vendor header. Names follow CUDA where it has one.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(threads, blocks) __attribute__((launch_bounds(threads, blocks)))
#define KERNEL extern "C" __global__ void
#define INLINE __attribute__((always_inline)) // of a lambda: a call would keep what it captures in memory
#define DEVICE __device__ static inline __attribute__((always_inline))
#define DEVICE_MEMBER __device__ inline __attribute__((always_inline))

struct alignas(16) uint4 { u32 x, y, z, w; };
struct alignas(8) uint2 { u32 x, y; };
DEVICE u32 word(uint4 v, int i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }

DEVICE u32 thread() { return __nvvm_read_ptx_sreg_tid_x(); }
DEVICE u32 threads() { return __nvvm_read_ptx_sreg_ntid_x(); }
DEVICE u32 block() { return __nvvm_read_ptx_sreg_ctaid_x(); }
DEVICE u32 blocks() { return __nvvm_read_ptx_sreg_nctaid_x(); }
DEVICE void barrier() { __syncthreads(); }
// Of so many of a block's threads, whole warps.
DEVICE void barrier(u32 many) { asm volatile("bar.sync 0, %0;" ::"r"(many) : "memory"); }
DEVICE void warp_barrier() { asm volatile("bar.warp.sync 0xffffffff;" ::: "memory"); }

// The same value, which the compiler cannot tell: what follows from it is computed
// where it is needed and takes no register before.
DEVICE u32 now(u32 v) {
	asm volatile("" : "+r"(v));
	return v;
}

// ---- warp

DEVICE u32 shuffle_xor(u32 v, int mask) { return __nvvm_shfl_sync_bfly_i32(~0u, v, mask, 31); }
DEVICE float shuffle_xor(float v, int mask) { return __nvvm_shfl_sync_bfly_f32(~0u, v, mask, 31); }
DEVICE u32 shuffle(u32 v, int lane) { return __nvvm_shfl_sync_idx_i32(~0u, v, lane, 31); }
DEVICE float shuffle(float v, int lane) { return __nvvm_shfl_sync_idx_f32(~0u, v, lane, 31); }
DEVICE u32 warp_max(u32 v) {
	u32 r;
	asm volatile("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(v));
	return r;
}
DEVICE u32 warp_min(u32 v) {
	u32 r;
	asm volatile("redux.sync.min.u32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(v));
	return r;
}
DEVICE bool any(bool p) { return __nvvm_vote_any_sync(~0u, p); }

// ---- global memory

// Read once: not kept in L1, and by the read-only path.
DEVICE uint4 load_once(const void *p) {
	uint4 r;
	asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w) : "l"(p));
	return r;
}

// Read from L2: what another kernel may just have written.
DEVICE uint4 load_l2(const void *p) {
	uint4 r;
	asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w) : "l"(p) : "memory");
	return r;
}
DEVICE uint2 load_l2_pair(const void *p) {
	uint2 r;
	asm volatile("ld.global.cg.v2.u32 {%0,%1}, [%2];" : "=r"(r.x), "=r"(r.y) : "l"(p) : "memory");
	return r;
}
DEVICE u32 load_l2_word(const void *p) {
	u32 r;
	asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(r) : "l"(p) : "memory");
	return r;
}
DEVICE float load_l2_float(const void *p) { return __builtin_bit_cast(float, load_l2_word(p)); }

// ---- shared memory, by its own 32-bit addresses

DEVICE u32 shared_address(const void *p) {
	u32 a;
	asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(a) : "l"(p));
	return a;
}
DEVICE uint4 load_shared16(u32 a) {
	uint4 r;
	asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w) : "r"(a) : "memory");
	return r;
}
DEVICE uint2 load_shared8(u32 a) {
	uint2 r;
	asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];" : "=r"(r.x), "=r"(r.y) : "r"(a) : "memory");
	return r;
}
DEVICE float load_shared(u32 a) {
	float r;
	asm volatile("ld.shared.f32 %0, [%1];" : "=f"(r) : "r"(a) : "memory");
	return r;
}
// Four matrices of 8×8 words of 16 bits, whose rows lie where the lanes say,
// eight each: as they are, and transposed.
DEVICE uint4 load_matrices(u32 a) {
	uint4 r;
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w) : "r"(a) : "memory");
	return r;
}
DEVICE uint4 load_matrices_transposed(u32 a) {
	uint4 r;
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w) : "r"(a) : "memory");
	return r;
}
DEVICE void store_shared4(u32 a, u32 v) { asm volatile("st.shared.u32 [%0], %1;" ::"r"(a), "r"(v) : "memory"); }
DEVICE void store_shared16(u32 a, uint4 v) {
	asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(a), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
DEVICE void store_shared8(u32 a, uint2 v) { asm volatile("st.shared.v2.u32 [%0], {%1,%2};" ::"r"(a), "r"(v.x), "r"(v.y) : "memory"); }
DEVICE void store_shared(u32 a, float v) { asm volatile("st.shared.f32 [%0], %1;" ::"r"(a), "f"(v) : "memory"); }
DEVICE void add_shared(u32 a, float v) { asm volatile("red.shared.add.f32 [%0], %1;" ::"r"(a), "f"(v) : "memory"); }

// ---- copies to shared memory that run beside the computation

DEVICE void copy16(u32 to, const void *from) {
	asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
// Zeros instead where there is nothing to copy.
DEVICE void copy16_or_zero(u32 to, const void *from, bool there) {
	asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there ? 16 : 0) : "memory");
}
DEVICE void copy8(u32 to, const void *from) {
	asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from) : "memory");
}
DEVICE void copy4(u32 to, const void *from) {
	asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
}
DEVICE void copies_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until all but the newest `left` groups have arrived.
template <int left> DEVICE void copies_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory"); }

// ---- dependent launch: what a kernel may do before its predecessor has ended

// Waits for the kernel before this one and for what it wrote.
DEVICE void wait_predecessor() {
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
// Lets the kernel after this one start.
DEVICE void start_successor() {
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
// When a kernel lets its successor start; 0: launched without dependence.
enum { ORDERED, EARLY, LATE };

// ---- numbers

DEVICE float bits_float(u32 v) { return __builtin_bit_cast(float, v); }
DEVICE u32 float_bits(float v) { return __builtin_bit_cast(u32, v); }
DEVICE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
DEVICE float maximum(float a, float b) { return __builtin_fmaxf(a, b); }
DEVICE float exp2_approx(float x) {
	float r;
	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
	return r;
}
// The two bfloat16 of a word.
DEVICE float bf16_low(u32 v) { return bits_float(v << 16); }
DEVICE float bf16_high(u32 v) { return bits_float(v & 0xffff0000u); }
DEVICE u32 pack_bf16(float low, float high) {
	u32 r;
	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
	return r;
}
DEVICE u32 pack_f16(float low, float high) {
	u32 r;
	asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
	return r;
}
// The two binary16 of a word.
DEVICE void f16_pair(u32 v, float &low, float &high) {
	asm("{ .reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h; }" : "=f"(low), "=f"(high) : "r"(v));
}
// Four bytes chosen from eight by the nibbles of a selector.
DEVICE u32 permute(u32 a, u32 b, u32 selector) {
	u32 r;
	asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(selector));
	return r;
}

// ---- tensor cores: C[16×8] += A[16×16]·B[16×8], float32 accumulators

DEVICE void mma_f16(float *c, u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
	asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
	    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
DEVICE void mma_f16(float *c, const u32 *a, u32 b0, u32 b1) { mma_f16(c, a[0], a[1], a[2], a[3], b0, b1); }
DEVICE void mma_bf16(float *c, u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
	asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
	    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
