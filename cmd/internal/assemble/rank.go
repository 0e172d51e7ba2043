package assemble

import (
	"strconv"

	"decodegap/reports"
)

// launcher is what a launcher of parallel jobs tells each process of its rank.
type launcher struct{ name, rank, of, local string }

// launchers are tried in this order: torchrun and mpirun set theirs under
// Slurm too, and are nearer to the process. Names are those of each one's own
// documentation; a Kubernetes indexed job tells the index alone, its size must
// be told beside it.
var launchers = []launcher{
	{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK"},
	{"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
	{"mpi", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
	{"slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"}, // of the step: the script of a batch job is one process
	{"kubernetes", "JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", ""},
}

// Rank is this process's place in a job of several, from the variables that
// launchers set; nil for none, or for a job of one.
func Rank(getenv func(string) string, host string) *reports.Rank {
	for _, l := range launchers {
		rank, ok := count(getenv(l.rank))
		if !ok {
			continue
		}
		of, ok := count(getenv(l.of))
		if !ok || of < 2 || rank >= of {
			continue
		}
		r := &reports.Rank{Index: rank, Of: of, Launcher: l.name, Host: reports.OneLine(host, 200)}
		if local, ok := count(getenv(l.local)); ok {
			r.Local = &local
		}
		return r
	}
	return nil
}

// count reads a number from 0 up that a job may have.
func count(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0 && n < 1<<20
}
