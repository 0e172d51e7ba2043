package layout

import (
	"fmt"

	"decodegap/roofline"
	"decodegap/roofline/nearest"
)

// check refuses workloads that this engine cannot lay out, naming the flag and
// the values that would do.
func (e Engine) check(d *roofline.Decoder, w roofline.Workload) error {
	if err := check(d, w); err != nil {
		return err
	}
	if e.Even {
		return nil
	}
	for _, limit := range e.Limits {
		if err := limit(d, w); err != nil {
			return err
		}
	}
	return nil
}

// check refuses workloads that no engine can lay out.
func check(d *roofline.Decoder, w roofline.Workload) error {
	for _, v := range []struct {
		flag  string
		value int
	}{{"--batch", w.Batch}, {"--tp", w.TP}, {"--ep", w.EP}, {"--dp", w.DP}, {"--pp", w.PP}} {
		if v.value < 1 {
			return fmt.Errorf("%s %d: must be at least 1", v.flag, v.value)
		}
	}
	if w.Context < 0 {
		return fmt.Errorf("--context %d: must not be negative", w.Context)
	}
	if w.KVType.Size() == 0 {
		return fmt.Errorf("--kv-dtype %q: unknown type", w.KVType)
	}
	if d.Heads > 0 && d.Heads%w.TP != 0 {
		return fmt.Errorf("--tp %d does not divide the %d attention heads of %s: use one of %v", w.TP, d.Heads, d.Name, usable(d))
	}
	if k := d.KVHeads; k > 0 && k%w.TP != 0 && w.TP%k != 0 {
		return fmt.Errorf("--tp %d neither divides the %d KV heads of %s nor is a multiple of them: use one of %v", w.TP, k, d.Name, usable(d))
	}
	if d.StateHeads > 0 && d.StateHeads%w.TP != 0 {
		return fmt.Errorf("--tp %d does not divide the %d heads of %s's recurrent layers", w.TP, d.StateHeads, d.Name)
	}
	if d.Experts > 0 {
		if d.Experts%w.EP != 0 {
			return fmt.Errorf("--ep %d does not divide the %d experts of %s", w.EP, d.Experts, d.Name)
		}
		if (w.TP*w.DP)%w.EP != 0 {
			return fmt.Errorf("--ep %d does not divide tp·dp = %d GPUs", w.EP, w.TP*w.DP)
		}
	} else if w.EP != 1 {
		return fmt.Errorf("--ep %d: %s has no experts", w.EP, d.Name)
	}
	if w.PP > d.Layers {
		return fmt.Errorf("--pp %d: %s has only %d layers", w.PP, d.Name, d.Layers)
	}
	if w.DenseAttention && !d.Indexed {
		return fmt.Errorf("--attention dense: %s has no sparse-attention index to leave out", d.Name)
	}
	return nil
}

// usable lists the tensor-parallel degrees up to 64 that fit the heads.
func usable(d *roofline.Decoder) []int {
	var ok []int
	for n := 1; n <= 64; n++ {
		if d.Heads%n == 0 && (d.KVHeads == 0 || d.KVHeads%n == 0 || n%d.KVHeads == 0) {
			ok = append(ok, n)
		}
	}
	return ok
}

func hint(name string, known []string) string { return nearest.Hint(name, known) }
