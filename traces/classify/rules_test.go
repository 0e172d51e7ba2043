package classify

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"decodegap/roofline"
)

func TestEmbeddedRules(t *testing.T) {
	rules, err := ParseRules(strings.NewReader(ruleTable), "rules.tsv")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, r := range rules {
		if r.Library == "" || r.Note == "" {
			t.Errorf("%s: no library or note", r.Where)
		}
		if at, ok := seen[r.Pattern]; ok {
			t.Errorf("%s: the pattern of %s again", r.Where, at)
		}
		seen[r.Pattern] = r.Where
	}
}

func TestFamilies(t *testing.T) {
	known := map[roofline.Component]bool{matmul: true}
	for _, c := range roofline.Components {
		known[c.Name] = true
	}
	seen := map[string]bool{}
	for _, f := range families {
		if !known[f.component] {
			t.Errorf("%s: %q is no component", f.word, f.component)
		}
		if seen[f.word] {
			t.Errorf("%s twice", f.word)
		}
		seen[f.word] = true
	}
}

func TestParseRules(t *testing.T) {
	rules, err := ParseRules(strings.NewReader("# mine\n\n*my_gate*\tmoe.router\tours\tbf16\tthe router\r\n/^attn_v\\d+$/\tattention_decode\n"), "my.tsv")
	if err != nil {
		t.Fatal(err)
	}
	if len(rules) != 2 || rules[0].Where != "my.tsv:3" || rules[0].Library != "ours" || rules[1].Precision != "auto" {
		t.Fatalf("%+v", rules)
	}
	c := New(rules...)
	if got := c.Kernel(Kernel{Name: "void my_gate<int>(int)"}); got.Component != roofline.MoERouter || got.Precision != "bf16" || !got.Known || !strings.Contains(got.Why, "my.tsv:3") {
		t.Errorf("%+v", got)
	}
	if got := c.Kernel(Kernel{Name: "attn_v3"}); got.Component != roofline.AttentionCore || got.Phase != "decode" {
		t.Errorf("%+v", got)
	}
}

// What a file's byte order mark and a name's own brackets are not: an error.
func TestParseRulesLenient(t *testing.T) {
	rules, err := ParseRules(strings.NewReader("\ufeffvoid f<int>(T[2], g{1})*\tnorm\n"), "my.tsv")
	if err != nil {
		t.Fatal(err)
	}
	if got := New(rules...).Kernel(Kernel{Name: "void f<int>(T[2], g{1}) const"}); got.Component != roofline.Norm {
		t.Errorf("%+v", got)
	}
}

// A rule that matches nothing is likely a slip, and can be told.
func TestUnusedRules(t *testing.T) {
	rules, err := ParseRules(strings.NewReader("my_*\tnorm\nyour_*\trope\nmy_a*\trope\n"), "my.tsv")
	if err != nil {
		t.Fatal(err)
	}
	c := New(rules...)
	c.Kernel(Kernel{Name: "my_abc"})
	if got := c.Unused(); len(got) != 2 || got[0].Where != "my.tsv:2" || got[1].Where != "my.tsv:3" {
		t.Errorf("unused %+v, want lines 2 and 3", got)
	}
}

// A user's component is final: neither order nor operators nor shapes move it.
func TestUserRuleIsFinal(t *testing.T) {
	rules, err := ParseRules(strings.NewReader("nvjet_mine*\tmoe.shared\nncclDev*\tother\n"), "my.tsv")
	if err != nil {
		t.Fatal(err)
	}
	c := New(rules...).WithModel([]Shape{{roofline.LMHead, 20, 10}})
	k := Kernel{Name: "nvjet_mine_TNT", Parent: []string{"lm_head"}, Dims: "[[1,10],[10,20]]", Prev: []string{"kernel_unified_attention_2d"}, Next: []string{"rms_norm_kernel"}}
	if got := c.Kernel(k); got.Component != roofline.MoEShared {
		t.Errorf("%+v", got)
	}
	if got := c.Kernel(Kernel{Name: "ncclDevKernel_AllReduce_Sum"}); got.Component != roofline.Other || !got.Known {
		t.Errorf("other by the user's choice is known: %+v", got)
	}
}

func TestParseRulesErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"one field", "r.tsv:1: 1 field, expected at least pattern and component"},
		{"\n# c\na\tnorm\nb\tnormm", `r.tsv:4: "normm" is neither a component nor a class word; did you mean "norm"?`},
		{"a\tzzzzzzzzzzzz", "docs/extend/kernel_rule.md"},
		{"a\tnorm\tl\tp\tn\tx", "6 fields, expected at most"},
		{"/(/\tnorm", "missing closing )"},
		{"/(?=x)/\tnorm", "no look-around"},
		{"/abc\tnorm", "begins with / but does not end"},
		{"\tnorm", "empty pattern"},
		{"ok*\tnorm\n\n(gemm|nvjet\tnorm", `r.tsv:3: pattern "(gemm|nvjet" has 1 ( but 0 )`},
		{"gemm)\tnorm", "has 0 ( but 1 )"},
		{"[a-z\tnorm", "has 1 [ but 0 ]"},
		{"a{2\tnorm", "has 1 { but 0 }"},
		{"gemm.*\tnorm", "holds .* as in an expression"},
		{"(gemm|nvjet)\tnorm", "holds | as in an expression"},
		{"gemm_\\d\tnorm", `holds \ as in an expression`},
		{"^gemm\tnorm", "holds ^ as in an expression"},
		{"gemm/\tnorm", "ends with / but does not begin"},
		{"//\tnorm", "begins with / but does not end"},
		{"/*a/\tnorm", "missing argument to repetition operator"},
		{"/a{1,2000}/\tnorm", "invalid repeat count"},
		{"/[z-a]/\tnorm", "invalid character class range"},
		{"/\\q/\tnorm", "invalid escape sequence"},
		{"/\xff/\tnorm", "invalid UTF-8"},
		{"a\xffb\tnorm", "invalid UTF-8"},
		{"a  norm", "with a tab between them"},
		{"a\t\tlib", "is neither a component nor a class word"},
		{"", "r.tsv: no rule in it"},
		{"# only a comment\n", "r.tsv: no rule in it"},
		{strings.Repeat("a", maxPattern+1) + "\tnorm", "expected at most 1024"},
		{"a\tnorm\t" + strings.Repeat("l", maxField+1), "field 3 has 201 bytes"},
		{"a\tnorm\n" + strings.Repeat("b", 2*maxLine), "r.tsv:2: read rules"},
		{strings.Repeat("a\tnorm\n", maxRules+1), fmt.Sprintf("more than %d rules", maxRules)},
	} {
		_, err := ParseRules(strings.NewReader(tt.text), "r.tsv")
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.40q: error %v, want %q", tt.text, err, tt.want)
		}
	}
}

func FuzzParseRules(f *testing.F) {
	f.Add("a*\tnorm\n/b/\tgemm\tlib\tbf16\tnote\n")
	f.Add("/((((a*)*)*)*)/\trope")
	f.Add("#\n\t\t\t\t\n\x00\tnorm")
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := ParseRules(strings.NewReader(text), "f.tsv")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.tsv:") {
				t.Errorf("error without a position: %v", err)
			}
			return
		}
		for _, r := range rules {
			if r.match == nil || r.Where == "" {
				t.Errorf("incomplete rule %+v", r)
			}
			r.match.MatchString("void norm<int>(float)")
		}
	})
}

func FuzzNames(f *testing.F) {
	for _, o := range occurrences {
		f.Add(o.name, "aten::mm", "[[1,2],[2,3]]")
	}
	f.Add(strings.Repeat("(", 5000), strings.Repeat("<", 5000), strings.Repeat("[", 5000))
	f.Add("_Z"+strings.Repeat("N1a", 800), "nccl:all_reduce", "[[9999999999999999999]]")
	c := New().WithModel([]Shape{{roofline.LMHead, 3, 2}})
	components := map[roofline.Component]bool{}
	for _, e := range roofline.Components {
		components[e.Name] = true
	}
	f.Fuzz(func(t *testing.T, name, parent, dims string) {
		if n := Normalize(name); len(n) > maxNormal {
			t.Fatalf("normalised name of %d bytes", len(n))
		}
		seq := []Kernel{{Name: "rms_norm_kernel"}, {Name: name, Parent: []string{parent}, Dims: dims}, {Name: "kernel_unified_attention_2d"}, {Name: name}}
		for _, got := range c.Sequence(seq) {
			if !components[got.Component] {
				t.Fatalf("%q is no component", got.Component)
			}
			if got.Known == (got.Component == roofline.Other) {
				t.Fatalf("known %v as %s", got.Known, got.Component)
			}
		}
	})
}

// Hostile names do not grow the memory of a classifier.
func TestSeenIsBounded(t *testing.T) {
	c := New()
	for i := range maxSeen + 100 {
		c.named(fmt.Sprintf("memset_%d", i))
	}
	if len(c.seen) > maxSeen {
		t.Errorf("%d names remembered, want at most %d", len(c.seen), maxSeen)
	}
	c.lookups = maxLookups
	if got := c.Kernel(Kernel{Name: "a new memset name"}); got.Known || !strings.Contains(got.Why, "different names") {
		t.Errorf("behind the limit of names: %+v", got)
	}
}

// The page that users are sent to lists what a rule may name.
func TestPageListsClasses(t *testing.T) {
	page, err := os.ReadFile("../../docs/extend/kernel_rule.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range roofline.Components {
		if !strings.Contains(string(page), "`"+string(c.Name)+"`") {
			t.Errorf("component %s is not on the page", c.Name)
		}
	}
	for _, f := range families {
		if !strings.Contains(string(page), "`"+f.word+"`") {
			t.Errorf("class word %s is not on the page", f.word)
		}
	}
}
