// A stand-in for libnvidia-ml.so.1, for tests on machines without a GPU: one
// H200 whose clocks stand still, at the address that the stand-in for libcuda
// has too. Scripted in the environment:
//
//   FAKENVML_INIT=9                       what nvmlInit_v2 returns
//   FAKENVML_UNSUPPORTED=nvmlDeviceGetPowerUsage  a call that the GPU does not support
//   FAKENVML_HANG=nvmlDeviceGetClockInfo  a call that does not return
//   FAKENVML_HOT=3-9                      these questions for the reasons, counted from 1, find the GPU hot
//   FAKENVML_PROCESSES=2                  processes that compute on it
//   FAKENVML_MIG=1                        MIG mode is on
//   FAKENVML_MEMORY_MHZ=2619              the memory clock
//
// Compiled with -DWITHOUT_REASONS it lacks both names of the reasons.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int result;
typedef void *device;
enum { success = 0, invalid = 2, unsupported = 3, not_found = 6, too_small = 7 };

static const char *variable(const char *name) {
	const char *v = getenv(name);
	return v ? v : "";
}
static int number(const char *name, int otherwise) { return *variable(name) ? atoi(variable(name)) : otherwise; }

static result scripted(const char *call) {
	if (!strcmp(variable("FAKENVML_HANG"), call)) pause();
	return !strcmp(variable("FAKENVML_UNSUPPORTED"), call) ? unsupported : success;
}
#define BEGIN \
	result scripted_ = scripted(__func__); \
	if (scripted_) return scripted_

// A call that gives one number of the device.
#define NUMBER(name, type, value) \
	result name(device d, type *to) { \
		BEGIN; \
		(void)d; \
		*to = (value); \
		return success; \
	}

result nvmlInit_v2(void) { return number("FAKENVML_INIT", success); }
result nvmlShutdown(void) { return success; }
const char *nvmlErrorString(result r) { return r == 15 ? "GPU is lost" : "scripted"; }
result nvmlSystemGetDriverVersion(char *s, unsigned n) { BEGIN; snprintf(s, n, "580.159.04"); return success; }
result nvmlSystemGetCudaDriverVersion(int *v) { BEGIN; *v = 13000; return success; }
result nvmlDeviceGetCount_v2(unsigned *n) { BEGIN; *n = 1; return success; }
result nvmlDeviceGetHandleByIndex_v2(unsigned i, device *d) { BEGIN; *d = d; return i ? invalid : success; }
result nvmlDeviceGetHandleByPciBusId_v2(const char *id, device *d) { BEGIN; *d = d; return strcmp(id, "0000:1b:00.0") ? not_found : success; }
result nvmlDeviceGetName(device d, char *s, unsigned n) { BEGIN; (void)d; snprintf(s, n, "NVIDIA H200"); return success; }

typedef struct { unsigned long long total, free, used; } memory;
result nvmlDeviceGetMemoryInfo(device d, memory *m) {
	BEGIN;
	(void)d;
	*m = (memory){150754820096ull, 150129885184ull, 624934912ull};
	return success;
}
typedef struct { char legacy[16]; unsigned domain, bus, device, id, subsystem; char bus_id[32]; } pci;
result nvmlDeviceGetPciInfo_v3(device d, pci *p) {
	BEGIN;
	(void)d;
	memset(p, 0, sizeof *p);
	snprintf(p->bus_id, sizeof p->bus_id, "00000000:1B:00.0");
	return success;
}
enum { sm_clock = 1, memory_clock = 2 };
result nvmlDeviceGetClockInfo(device d, int kind, unsigned *mhz) {
	BEGIN;
	(void)d;
	*mhz = kind == memory_clock ? (unsigned)number("FAKENVML_MEMORY_MHZ", 3201) : 1980;
	return success;
}
result nvmlDeviceGetMaxClockInfo(device d, int kind, unsigned *mhz) { BEGIN; (void)d; *mhz = kind == memory_clock ? 3201 : 1980; return success; }
NUMBER(nvmlDeviceGetMemoryBusWidth, unsigned, 6016)
NUMBER(nvmlDeviceGetPerformanceState, int, 0)
NUMBER(nvmlDeviceGetPowerUsage, unsigned, 412500)
NUMBER(nvmlDeviceGetEnforcedPowerLimit, unsigned, 700000)
NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, unsigned, 700000)
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, unsigned, 5)
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, unsigned, 16)
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, unsigned, 5)
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, unsigned, 16)
NUMBER(nvmlDeviceGetComputeMode, int, 0)
result nvmlDeviceGetTemperature(device d, int sensor, unsigned *t) { BEGIN; (void)d; (void)sensor; *t = 61; return success; }
result nvmlDeviceGetNvLinkState(device d, unsigned link, int *up) { BEGIN; (void)d; *up = link < 18; return link < 18 ? success : invalid; }
result nvmlDeviceGetNvLinkVersion(device d, unsigned link, unsigned *v) { BEGIN; (void)d; (void)link; *v = 6; return success; }
result nvmlDeviceGetCudaComputeCapability(device d, int *major, int *minor) { BEGIN; (void)d; *major = 9; *minor = 0; return success; }
result nvmlDeviceGetMigMode(device d, unsigned *now, unsigned *next) { BEGIN; (void)d; *now = *next = (unsigned)number("FAKENVML_MIG", 0); return success; }
result nvmlDeviceGetEccMode(device d, int *now, int *next) { BEGIN; (void)d; *now = *next = 1; return success; }
typedef struct { unsigned gpu, memory; } utilization;
result nvmlDeviceGetUtilizationRates(device d, utilization *u) { BEGIN; (void)d; *u = (utilization){0, 0}; return success; }
typedef struct { unsigned pid; unsigned long long used; unsigned gpu_instance, compute_instance; } process;
result nvmlDeviceGetComputeRunningProcesses_v3(device d, unsigned *n, process *list) {
	BEGIN;
	(void)d;
	unsigned has = (unsigned)number("FAKENVML_PROCESSES", 0), room = *n;
	*n = has;
	if (room < has) return too_small;
	for (unsigned i = 0; i < has; i++) list[i] = (process){1000 + i, 1 << 30, 0, 0};
	return success;
}
#ifndef WITHOUT_REASONS
static unsigned asked;
result nvmlDeviceGetCurrentClocksEventReasons(device d, unsigned long long *bits) {
	BEGIN;
	(void)d;
	unsigned first = 0, last = 0;
	sscanf(variable("FAKENVML_HOT"), "%u-%u", &first, &last);
	asked++;
	*bits = first && asked >= first && asked <= last ? 0x60 : 0;
	return success;
}
#endif
typedef struct { unsigned long long reference, violation; } held;
result nvmlDeviceGetViolationStatus(device d, int policy, held *h) { BEGIN; (void)d; *h = (held){1, (unsigned long long)policy}; return success; }
