#define _GNU_SOURCE
#include "cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const dgc_symbol symbols[] = {
#define X(name, version, spared, call, ...) {#name, version, spared},
	DGC_SYMBOLS(X)
#undef X
};

// Where each symbol's address lies in the table.
static const size_t places[] = {
#define X(name, version, spared, call, ...) offsetof(dgc_cuda, name),
	DGC_SYMBOLS(X)
#undef X
};

enum { count = sizeof symbols / sizeof *symbols };

const dgc_symbol *dgc_symbol_at(int i) { return i >= 0 && i < count ? &symbols[i] : NULL; }

int dgc_has(const dgc_cuda *t, int i) {
	void *address = NULL;
	if (i >= 0 && i < count) memcpy(&address, (const char *)t + places[i], sizeof address);
	return address != NULL;
}

dgc_cuda *dgc_open(const char *path, char *why, size_t n) {
	void *library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		const char *said = dlerror();
		snprintf(why, n, "%s", said ? said : "the loader does not say why");
		return NULL;
	}
	dgc_cuda *t = calloc(1, sizeof *t);
	if (!t) {
		snprintf(why, n, "out of memory");
		dlclose(library);
		return NULL;
	}
	t->library = library;
	for (int i = 0; i < count; i++) {
		void *address = dlsym(library, symbols[i].name);
		memcpy((char *)t + places[i], &address, sizeof address);
	}
	return t;
}

void dgc_close(dgc_cuda *t) {
	if (!t) return;
	dlclose(t->library);
	free(t);
}

// CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION and _PROGRAMMATIC_STREAM_SERIALIZATION.
enum { cluster_dimension = 4, stream_serialization = 6 };
enum { most_parameters = 32 };

dgc_result dgc_launch(const dgc_cuda *t, dgc_word f, unsigned grid, unsigned block, unsigned shared, dgc_word stream,
                    int dependent, unsigned cluster, void *values, const int *offsets, int n) {
	void *parameters[most_parameters];
	if (n > most_parameters) return 1; // CUDA_ERROR_INVALID_VALUE
	for (int i = 0; i < n; i++) parameters[i] = (char *)values + offsets[i];
	if (!dependent && cluster < 2) return t->cuLaunchKernel(f, grid, 1, 1, block, 1, 1, shared, stream, parameters, NULL);
	dgc_attribute attributes[2];
	memset(attributes, 0, sizeof attributes);
	dgc_config config = {grid, 1, 1, block, 1, 1, shared, stream, attributes, 0};
	if (dependent) {
		attributes[config.count].id = stream_serialization;
		attributes[config.count++].u.value = 1;
	}
	if (cluster > 1) {
		attributes[config.count].id = cluster_dimension;
		attributes[config.count].u.cluster.x = cluster;
		attributes[config.count].u.cluster.y = attributes[config.count].u.cluster.z = 1;
		config.count++;
	}
	return t->cuLaunchKernelEx(&config, f, parameters, NULL);
}

// CU_JIT_ERROR_LOG_BUFFER and CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES.
enum { error_log = 5, error_log_bytes = 6 };

dgc_result dgc_load(const dgc_cuda *t, dgc_word *module, const char *ptx, char *log, unsigned n) {
	int options[] = {error_log, error_log_bytes};
	void *values[] = {log, (void *)(uintptr_t)n};
	log[0] = 0;
	dgc_result r = t->cuModuleLoadDataEx(module, ptx, 2, options, values);
	log[n - 1] = 0;
	return r;
}
