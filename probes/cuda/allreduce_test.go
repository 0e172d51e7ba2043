//go:build cgo && linux

package cuda

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"decodegap/probes"
	"decodegap/probes/cuda/cudatest"
)

// allReduced prepares, runs and checks one case on the stand-in.
func allReduced(t *testing.T, c func([]probes.Case) probes.Case, env ...string) (probes.Case, error) {
	t.Helper()
	t.Setenv("FAKECUDA_FREE", "400000000")
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		t.Setenv(name, value)
	}
	m, err := Open(cudatest.Library(t, root), 0, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	h := m.Host(0)
	if err := AllReduce.Check(h); err != nil {
		return probes.Case{}, err
	}
	one := c(AllReduce.Plan(h))
	s, err := AllReduce.Prepare(t.Context(), h, one)
	if err != nil {
		return one, err
	}
	defer s.Close()
	if times, err := s.Time(t.Context(), 1); err != nil || len(times) != 1 || !(times[0] > 0) {
		t.Fatalf("%v, %v", times, err)
	}
	got, err := s.Verify()
	if err == nil && !got.OK() {
		err = fmt.Errorf("%+v", got)
	}
	return one, err
}

func first(all []probes.Case) probes.Case { return all[0] }

// TestAllReduce goes the whole way with two GPUs and with
// eight of nine.
func TestAllReduce(t *testing.T) {
	if c, err := allReduced(t, first, "FAKECUDA_DEVICES=2"); err != nil || c.Shape["ranks"] != 2 || c.Shape["bytes"] != 12288 {
		t.Errorf("%+v: %v", c, err)
	}
	if c, err := allReduced(t, first, "FAKECUDA_DEVICES=9"); err != nil || c.Shape["ranks"] != 8 {
		t.Errorf("%+v: %v", c, err)
	}
}

// TestAllReduceOutcomes: each lack and each fault is a finding that names the
// GPUs.
func TestAllReduceOutcomes(t *testing.T) {
	for _, c := range []struct {
		name, env   string
		unsupported bool
		reason      string
	}{
		{"one GPU", "FAKECUDA_DEVICES=1", true, "the driver shows one GPU"},
		{"no peer access", "FAKECUDA_PEERS=0", true, "from GPU 0 to GPU 1 is staged through the host"},
		{"stores do not arrive", "FAKECUDA_WRONG=greet", true, "from GPU 0 to GPU 1 is staged through the host"},
		{"no way at all", "FAKECUDA_PEERS=0 FAKECUDA_FAIL=cuMemcpyPeer:2", true, "from GPU 0 to GPU 1 is absent"},
		{"old driver", "FAKECUDA_FAIL=cuCtxEnablePeerAccess:217", false, "cuCtxEnablePeerAccess: error 217"},
		{"a rank that never arrives", "FAKECUDA_LATE=2", false, "GPU 0 waited 1s in vain for GPU 1"},
		{"a sum left out", "FAKECUDA_WRONG=allreduce_packets_2", false, "value 0 is NaN"},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := append([]string{"FAKECUDA_DEVICES=2"}, strings.Fields(c.env)...)
			_, err := allReduced(t, first, env...)
			if err == nil || errors.Is(err, probes.ErrUnsupported) != c.unsupported || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("unsupported %v: %v", errors.Is(err, probes.ErrUnsupported), err)
			}
		})
	}
}

// TestAllReduceVariants: every vector has a variant whose blocks cover it and
// run at once.
func TestAllReduceVariants(t *testing.T) {
	for _, s := range allReduceBytes {
		kinds := map[string]bool{}
		for _, v := range allReduceVariants(s.bytes, 132, s.dependent) {
			kinds[v.entry] = true
			if v.blocks < 1 || v.blocks > exchangeBlocks || v.warps > 16 || v.entry == "allreduce_packets" && v.blocks*v.warps*32 < s.bytes/8 {
				t.Errorf("%d bytes: %+v", s.bytes, v)
			}
		}
		if kinds["allreduce_packets"] != (s.bytes <= mostPackets) || !kinds["allreduce_one_shot"] || kinds["allreduce_two_shot"] != (s.bytes >= leastShared) {
			t.Errorf("%d bytes: %v", s.bytes, kinds)
		}
	}
}
