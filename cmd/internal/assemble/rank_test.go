package assemble

import "testing"

func TestRank(t *testing.T) {
	for _, c := range []struct {
		name     string
		env      map[string]string
		launcher string
		rank, of int
		local    int // -1: not told
	}{
		{"none", nil, "", 0, 0, -1},
		{"srun", map[string]string{"SLURM_PROCID": "3", "SLURM_STEP_NUM_TASKS": "16", "SLURM_LOCALID": "3"}, "slurm", 3, 16, 3},
		{"script of a batch job", map[string]string{"SLURM_PROCID": "0", "SLURM_NTASKS": "16", "SLURM_LOCALID": "0"}, "", 0, 0, -1},
		{"torchrun under Slurm", map[string]string{"SLURM_PROCID": "0", "SLURM_NTASKS": "2", "RANK": "9", "WORLD_SIZE": "16", "LOCAL_RANK": "1"}, "torchrun", 9, 16, 1},
		{"mpirun", map[string]string{"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}, "openmpi", 0, 2, 0},
		{"mpich", map[string]string{"PMI_RANK": "1", "PMI_SIZE": "4"}, "mpi", 1, 4, -1},
		{"indexed job", map[string]string{"JOB_COMPLETION_INDEX": "5", "JOB_COMPLETIONS": "8"}, "kubernetes", 5, 8, -1},
		{"size not told", map[string]string{"JOB_COMPLETION_INDEX": "5"}, "", 0, 0, -1},
		{"nonsense", map[string]string{"RANK": "-1", "WORLD_SIZE": "1e9", "SLURM_PROCID": "7", "SLURM_NTASKS": "4"}, "", 0, 0, -1},
	} {
		r := Rank(func(k string) string { return c.env[k] }, "node\x1b1")
		if c.launcher == "" {
			if r != nil {
				t.Errorf("%s: %+v", c.name, r)
			}
			continue
		}
		if r == nil || r.Launcher != c.launcher || r.Index != c.rank || r.Of != c.of || (r.Local == nil) != (c.local < 0) || r.Local != nil && *r.Local != c.local || r.Host == "node\x1b1" {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}
