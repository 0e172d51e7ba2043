package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"decodegap/cmd/internal/assemble"
	"decodegap/reports"
	"decodegap/roofline"
	"decodegap/roofline/gap"
	"decodegap/roofline/hardware"
	"decodegap/roofline/layout"
	"decodegap/roofline/model"
	"decodegap/roofline/unit"
)

// scenarioOptions are the flags that `floor` and `diagnose` share: which model,
// machine and operating points.
type scenarioOptions struct {
	hardware string
	gpus     int
	tp       []int
	ep       int
	dp       int
	pp       int
	batch    []int
	context  []string

	kvType      string
	stateType   string
	quantConfig string
	engine      string
	attention   string
	draft       int
	accepted    float64
	weights     string

	topology  string
	bandwidth string
	allReduce string
	linkDelay string
	launchGap string

	draftModel   string
	expertsFile  string
	ceilingsFile string

	// probed makes the ceilings on this machine, nil where none are wanted.
	probed func(context.Context, *scenario) (*reports.CeilingsDocument, error)
}

func (o *scenarioOptions) AddFlags(f *pflag.FlagSet) {
	f.StringVar(&o.hardware, "hardware", "auto", "GPU `NAME` of the catalogue (list hardware), auto to ask the driver, or cpu for what the ceilings are of")
	f.IntVar(&o.gpus, "gpus", 0, "number of GPUs; default tp·dp·pp")
	f.IntSliceVar(&o.tp, "tp", nil, "tensor-parallel degree, or a list to sweep; default 1, or all --gpus")
	f.IntVar(&o.ep, "ep", 1, "expert-parallel degree; divides tp·dp")
	f.IntVar(&o.dp, "dp", 1, "data-parallel degree (attention replicas)")
	f.IntVar(&o.pp, "pp", 1, "pipeline stages")
	f.IntSliceVar(&o.batch, "batch", []int{1}, "sequences in the step over the whole deployment, a `LIST` such as 1,8,64")
	f.StringSliceVar(&o.context, "context", []string{"0"}, "tokens already cached of every sequence, a `LIST` such as 0,16k,128k")
	f.StringVar(&o.kvType, "kv-dtype", "", "KV-cache `TYPE`: bf16, fp16, fp8, int8, nvfp4, q8_0, …; default what the files say, else bf16")
	f.StringVar(&o.stateType, "state-dtype", "", "recurrent-state `TYPE`: float32 or bfloat16; default what the files or the engine say")
	f.StringVar(&o.quantConfig, "quant-config", "", "quantization side `FILE` such as hf_quant_config.json")
	f.StringVar(&o.engine, "engine", "vllm", "sharding `LAYOUT`: "+strings.Join(layout.Names(), ", "))
	f.StringVar(&o.attention, "attention", "", "sparse or dense, for models with a sparse index; default sparse")
	f.IntVar(&o.draft, "draft-tokens", 0, "speculation: drafts verified per sequence and step")
	f.Float64Var(&o.accepted, "accepted", 1, "speculation: tokens emitted per sequence and step")
	f.StringVar(&o.draftModel, "draft-model", "", "speculation: the draft `MODEL`, run once for each draft token at the same tp")
	f.StringVar(&o.expertsFile, "experts-file", "", "measured distinct experts a MoE layer reads, a JSON `FILE`, in place of the expectation")
	f.StringVar(&o.weights, "weights", "", "assume every matrix in this `FORMAT` (nvfp4, fp8, …), evenly split; labelled an assumption")
	f.StringVar(&o.topology, "topology", "", "how the GPUs are linked: nvlink, pcie-switch, pcie-host, two-socket")
	f.StringVar(&o.bandwidth, "bandwidth", "", "memory bandwidth in `GB/s` (1e9 bytes) in place of the sheet's")
	f.StringVar(&o.ceilingsFile, "ceilings", "", "ceilings `FILE` that decodegap probe -o wrote: floors at them stand beside the sheet's")
	f.StringVar(&o.allReduce, "allreduce-latency", "", "time of one all-reduce, such as 10.4us, in place of the catalogue's")
	f.StringVar(&o.linkDelay, "link-latency", "", "time of one hop between two GPUs, such as 2us: times all-reduces by the fastest algorithm's formula")
	f.StringVar(&o.launchGap, "launch-gap", "", "time between two dependent kernels, such as 1.2us, in place of the catalogue's")
}

// scenario is the parsed form: everything but the operating points is fixed.
type scenario struct {
	model     *model.Loaded
	modelOpt  model.Options
	machine   *assemble.Machine
	engine    layout.Engine
	draft     *roofline.Decoder // nil: the draft's cost is not counted
	notes     []reports.Warning // about what was given besides
	sources   []model.Source    // files read besides the model's
	workloads []roofline.Workload
	gpus      int
	inventory *hardware.Inventory       // nil unless --hardware auto found one
	ceilings  *reports.CeilingsDocument // nil without probes
}

// resolve reads the model and the machine and lays out the operating points.
func (o *scenarioOptions) resolve(ctx context.Context, env *environment, ref string) (*scenario, error) {
	s := &scenario{}
	var err error
	if s.engine, err = layout.Find(o.engine); err != nil {
		return nil, fmt.Errorf("--engine: %w", err)
	}
	if o.weights != "" {
		f, err := model.ParseFormat(o.weights)
		if err != nil {
			return nil, fmt.Errorf("--weights: %w", err)
		}
		s.modelOpt.Assume = &f
		s.engine = s.engine.EvenMatrices()
	}
	if s.model, err = model.Load(ref, o.quantConfig, s.modelOpt); err != nil {
		return nil, err
	}
	if err := o.machine(ctx, env, s); err != nil {
		return nil, err
	}
	if err := o.drafting(s); err != nil {
		return nil, err
	}
	if s.workloads, err = o.points(s.model.Decoder, s.engine); err != nil {
		return nil, err
	}
	if err := o.measuredExperts(s); err != nil {
		return nil, err
	}
	s.gpus = s.workloads[0].GPUs()
	return s, nil
}

// machine joins the device with what flags and probes say of it.
func (o *scenarioOptions) machine(ctx context.Context, env *environment, s *scenario) error {
	opt := assemble.MachineOptions{Topology: o.topology}
	if o.bandwidth != "" {
		v, err := strconv.ParseFloat(o.bandwidth, 64)
		if err != nil || !(v >= 0.001 && v <= 1e7) {
			return fmt.Errorf("--bandwidth %q: expected GB/s from 0.001 to 1e7, such as 1792", o.bandwidth)
		}
		opt.Bandwidth = v
	}
	for _, d := range []struct {
		flag, value string
		into        **unit.Seconds
	}{{"--allreduce-latency", o.allReduce, &opt.AllReduceLatency}, {"--link-latency", o.linkDelay, &opt.LinkLatency}, {"--launch-gap", o.launchGap, &opt.LaunchGap}} {
		if d.value == "" {
			continue
		}
		v, err := unit.ParseSeconds(d.value)
		if err != nil {
			return fmt.Errorf("%s: %w", d.flag, err)
		}
		*d.into = &v
	}
	var err error
	if opt.Ceilings, err = o.ceilings(ctx, s); err != nil {
		return err
	}
	dev, err := o.device(ctx, env, s, &opt)
	if err != nil {
		return err
	}
	s.machine, err = assemble.NewMachine(dev, opt)
	if err != nil && o.ceilingsFile != "" {
		err = fmt.Errorf("--ceilings %s: %w", o.ceilingsFile, err)
	}
	return err
}

// points is the product of the swept flags, checked.
func (o *scenarioOptions) points(d *roofline.Decoder, engine layout.Engine) ([]roofline.Workload, error) {
	base := roofline.Workload{EP: o.ep, DP: o.dp, PP: o.pp, DraftTokens: o.draft, AcceptedTokens: o.accepted}
	if err := o.speculation(); err != nil {
		return nil, err
	}
	for _, v := range []struct {
		flag  string
		value int
	}{{"--ep", o.ep}, {"--dp", o.dp}, {"--pp", o.pp}} {
		if v.value < 1 || v.value > maxDegree {
			return nil, fmt.Errorf("%s %d: expected 1 to %d", v.flag, v.value, maxDegree)
		}
	}
	var err error
	if base.KVType, err = o.kv(d); err != nil {
		return nil, err
	}
	if base.StateType, err = o.state(d, engine); err != nil {
		return nil, err
	}
	switch o.attention {
	case "", "sparse":
		if o.attention != "" && !d.Indexed {
			return nil, fmt.Errorf("--attention sparse: %s has no sparse-attention index", d.Name)
		}
	case "dense":
		base.DenseAttention = true
	default:
		return nil, fmt.Errorf("--attention %q: expected sparse or dense", o.attention)
	}
	tps, err := o.degrees()
	if err != nil {
		return nil, err
	}
	if n := len(tps) * len(o.batch) * len(o.context); n > maxPoints {
		return nil, fmt.Errorf("--batch, --context and --tp name %d points, above the limit of %d", n, maxPoints)
	}
	var out []roofline.Workload
	for _, tp := range tps {
		for _, b := range o.batch {
			if b < 1 || b > maxBatch {
				return nil, fmt.Errorf("--batch %d: expected 1 to %d", b, maxBatch)
			}
			for _, c := range o.context {
				tokens, err := unit.ParseTokens(c)
				if err != nil {
					return nil, fmt.Errorf("--context: %w", err)
				}
				w := base
				w.TP, w.Batch, w.Context = tp, b, tokens
				out = append(out, w)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("--batch %v, --context %q: an empty list, expected one value or more, such as 1,8 and 0,16k", o.batch, o.context)
	}
	return out, nil
}

// Limits of what a deployment may be; no engine comes near them.
const (
	maxDegree = 1 << 14
	maxBatch  = 1 << 20
	maxPoints = 200_000
)

func (o *scenarioOptions) speculation() error {
	if o.draft < 0 || o.draft > 1024 {
		return fmt.Errorf("--draft-tokens %d: expected 0 to 1024", o.draft)
	}
	if !(o.accepted >= 1) || o.accepted > float64(o.draft+1) {
		return fmt.Errorf("--accepted %v: expected 1 to %d, the tokens a step with %d drafts can emit", o.accepted, o.draft+1, o.draft)
	}
	return nil
}

// degrees is the list of tensor-parallel degrees, made to agree with --gpus.
func (o *scenarioOptions) degrees() ([]int, error) {
	tps := o.tp
	if len(tps) == 0 {
		tps = []int{1}
		if o.gpus > 0 {
			if o.gpus%(o.dp*o.pp) != 0 {
				return nil, fmt.Errorf("--gpus %d: dp·pp = %d does not divide it", o.gpus, o.dp*o.pp)
			}
			tps = []int{o.gpus / (o.dp * o.pp)}
		}
	}
	for _, tp := range tps {
		if tp < 1 || tp > maxDegree {
			return nil, fmt.Errorf("--tp %d: expected 1 to %d", tp, maxDegree)
		}
		if n := tp * o.dp * o.pp; o.gpus != 0 && o.gpus != n {
			return nil, fmt.Errorf("--gpus %d: but tp·dp·pp = %d", o.gpus, n)
		}
	}
	return tps, nil
}

func (o *scenarioOptions) kv(d *roofline.Decoder) (roofline.DType, error) {
	t, err := model.ParseKVType(o.kvType)
	if err != nil {
		return "", fmt.Errorf("--kv-dtype: %w", err)
	}
	if t == "" {
		t = d.KVType
	}
	if t == "" {
		t = roofline.BF16
	}
	return t, nil
}

// state is the recurrent state's type: the flag, the files, the engine's own
// default, else FP32.
func (o *scenarioOptions) state(d *roofline.Decoder, engine layout.Engine) (roofline.DType, error) {
	if o.stateType != "" {
		t, err := model.ParseStateType(o.stateType)
		if err != nil {
			return "", fmt.Errorf("--state-dtype: %w", err)
		}
		return t, nil
	}
	if d.StateType != "" {
		return d.StateType, nil
	}
	if t, ok := engine.StateTypes[d.Architecture]; ok {
		return t, nil
	}
	return roofline.FP32, nil
}

// at is the scenario at one operating point.
func (s *scenario) at(w roofline.Workload) gap.Scenario {
	return gap.Scenario{Decoder: s.model.Decoder, Engine: s.engine, Workload: w, Machine: s.machine.Roofline, Draft: s.draft}
}

// describe names an operating point in messages.
func describe(w roofline.Workload) string {
	parts := []string{"batch " + strconv.Itoa(w.Batch), "context " + strconv.Itoa(w.Context)}
	if w.TP > 1 {
		parts = append(parts, "tp "+strconv.Itoa(w.TP))
	}
	return strings.Join(parts, ", ")
}
