package reports

// MergeSchema identifies what the records of many GPUs say together.
const MergeSchema = "decodegap/merge/1"

// Rank is one process of a job that ran on several GPUs or hosts, as its
// launcher's variables have it.
type Rank struct {
	Index    int    `json:"index"`
	Of       int    `json:"of"`              // ranks of the job
	Local    *int   `json:"local,omitempty"` // among those of its host
	Launcher string `json:"launcher"`        // slurm, openmpi, mpi, torchrun, kubernetes
	Host     string `json:"host"`            // as it calls itself
}

// MergeDocument is what `merge` makes of the ceilings documents of many ranks:
// each case over all GPUs, and which GPU, link or host is slower than the rest.
type MergeDocument struct {
	Schema   string      `json:"schema"`
	Records  int         `json:"records"`
	GPUs     int         `json:"gpus"` // devices told apart, the CPU of a host being one
	Hosts    int         `json:"hosts"`
	Cases    []FleetCase `json:"cases"`
	Slow     []SlowUnit  `json:"slow"`              // slowest first; none that is not beyond chance and margin
	Missing  []int       `json:"missing,omitempty"` // ranks of the job without a record
	Warnings []Warning   `json:"warnings"`
}

// FleetCase is one case of a probe over all devices of one kind that measured
// it.
type FleetCase struct {
	Hardware  string  `json:"hardware"`
	Probe     string  `json:"probe"`
	Case      string  `json:"case"`
	Count     int     `json:"count"`
	MedianS   float64 `json:"median_s"`
	FastestS  float64 `json:"fastest_s"`
	SlowestS  float64 `json:"slowest_s"`
	SlowestIs string  `json:"slowest_is"`
	Spread    float64 `json:"spread"` // robust standard deviation over the median: 1.4826 × the median distance
}

// SlowUnit is a GPU, a link or a host that is slower than its like.
type SlowUnit struct {
	Kind     string  `json:"kind"` // gpu, link, host
	Name     string  `json:"name"`
	Hardware string  `json:"hardware"`
	Slower   float64 `json:"slower"` // time over the median of all, in the case that shows it most
	Probe    string  `json:"probe"`  // of that case
	Case     string  `json:"case"`
	Score    float64 `json:"score"` // distance in robust standard deviations
	Limit    float64 `json:"limit"` // that chance alone passes once in a hundred merges
	Cases    int     `json:"cases"` // in which it is slow
	Of       int     `json:"of"`    // that it measured
}
