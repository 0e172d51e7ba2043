package reports

import (
	"fmt"
	"strings"
)

// engines are the names their makers give them.
var engines = []struct{ id, name string }{
	{"sglang", "SGLang"}, {"vllm", "vLLM"}, {"trtllm", "TensorRT-LLM"},
	{"llamacpp", "llama.cpp"}, {"ideal", "ideal layout"},
}

func engineName(id string) string {
	for _, e := range engines {
		if e.id == id {
			return e.name
		}
	}
	return name(id)
}

func title(run *Run, primary int) Title {
	t := Title{Model: name(run.Model.Name), Machine: machine(&run.Hardware)}
	if primary >= 0 {
		pt := &run.Points[primary]
		t.Engine = joined(", ", engineName(pt.Engine), parallel(&pt.Operating), speculation(&pt.Operating))
		t.Point = pointName(pt)
	}
	return t
}

// Line is the title as one line.
func (t Title) Line() string {
	return joined(" · ", t.Model, t.Machine, t.Engine, t.Point)
}

// machine is "8 × NAME (96 GB GDDR7, PCIe 5 ×16)".
func machine(h *Hardware) string {
	s := name(h.Name)
	if h.Count > 0 && s != "" {
		s = fmt.Sprintf("%d × %s", h.Count, s)
	}
	if facts := joined(", ", fact(h, "memory"), fact(h, "links")); facts != "" {
		s += " (" + facts + ")"
	}
	return s
}

// fact is the hardware's fact of that name, empty if it has none.
func fact(h *Hardware, wanted string) string {
	for _, f := range h.Facts {
		if f.Name == wanted {
			return name(f.Value)
		}
	}
	return ""
}

func parallel(o *Operating) string {
	s := fmt.Sprintf("TP %d", o.TP)
	for _, d := range []struct {
		name string
		n    int
	}{{"EP", o.EP}, {"DP", o.DP}, {"PP", o.PP}} {
		if d.n > 1 {
			s += fmt.Sprintf(", %s %d", d.name, d.n)
		}
	}
	return s
}

func speculation(o *Operating) string {
	if o.DraftTokens == 0 {
		return ""
	}
	return fmt.Sprintf("%s drafted and %s accepted a step", count(o.DraftTokens, "token"), plain(o.AcceptedTokens))
}

// pointName is "batch 1, context 576".
func pointName(p *RunPoint) string {
	return fmt.Sprintf("batch %s, context %s", whole(int64(p.Batch)), whole(int64(p.Context)))
}

// joined joins the parts that are not empty.
func joined(sep string, parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, sep)
}
