package audit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"decodegap/roofline"
)

// TestCommands reads the ways people write a launch.
func TestCommands(t *testing.T) {
	for _, c := range []struct {
		name, text string
		engine     string
		model      string
		tp         int // 0: unknown
		at         string
	}{
		{"module", "python -m sglang.launch_server --model-path org/m --tp 4", "sglang", "org/m", 4, "1:11"},
		{"subcommand", "sglang serve --model-path org/m --tensor-parallel-size=2", "sglang", "org/m", 2, "1:1"},
		{"vllm positional", "vllm serve org/m -tp 2 ", "vllm", "org/m", 2, "1:1"},
		{"positional last", "vllm serve --enforce-eager --trust-remote-code org/m", "vllm", "org/m", 1, "1:1"},
		{"vllm module", "python3 -O -m vllm.entrypoints.openai.api_server --model=org/m --tensor_parallel_size 2", "vllm", "org/m", 2, "1:15"},
		{"path to program", `"$VENV/bin/vllm" serve org/m`, "vllm", "org/m", 1, "1:1"},
		{"script path", "python /opt/sglang/launch_server.py --model m", "sglang", "m", 1, "1:8"},
		{"trtllm", "trtllm-serve serve org/m --tp_size 4", "trtllm", "org/m", 4, "1:1"},
		{"llama", "./llama-server -hf org/m:Q4_K_M", "llamacpp", "org/m:Q4_K_M", 1, "1:1"},
		{"env", "env -u X A=b vllm serve m", "vllm", "m", 1, "1:14"},
		{"continuation", "vllm \\\n  serve \\\r\n m \\\n --tp 8", "vllm", "m", 8, "1:1"},
		{"comment", "# vllm serve other\nvllm serve m # --tp 9", "vllm", "m", 1, "2:1"},
		{"several", "pip install vllm; echo vllm serve x && cd /srv\nvllm serve m -tp 2", "vllm", "m", 2, "2:1"},
		{"group", "{ sleep 1; vllm serve m; } &", "vllm", "m", 1, "1:12"},
		{"subshell", "(cd x; vllm serve m) &", "vllm", "m", 1, "1:8"},
		{"substitution around", "PID=$(pgrep -f 'vllm serve'); vllm serve m", "vllm", "m", 1, "1:31"},
		{"function", "start() {\n  vllm serve m -tp 2\n}\nstart", "vllm", "m", 2, "2:3"},
		{"loop", "for i in 1 2; do vllm serve m & done", "vllm", "m", 1, "1:18"},
		{"case", "case $1 in a) vllm serve m ;; esac", "vllm", "m", 1, "1:15"},
		{"bash -c", "bash -lc 'cd /x && vllm serve m -tp 2'", "vllm", "m", 2, "1:20"},
		{"ssh in double quotes", `ssh box "vllm serve m -tp 2"`, "vllm", "m", 2, "1:10"},
		{"quoted twice", `bash -c "bash -c 'vllm serve m -tp 2'"`, "vllm", "m", 2, "1:19"},
		{"text in a variable", "CMD=\"vllm serve m -tp 2\"\n$CMD", "vllm", "m", 2, "1:6"},
		{"whole command in an array", "cmd=(vllm serve m)\ncmd+=(-tp 2)\nexec \"${cmd[@]}\"", "vllm", "m", 2, "1:6"},
		{"array in an array", "a=(-tp 2)\nb=(m \"${a[@]}\")\nvllm serve \"${b[@]}\"", "vllm", "m", 2, "3:1"},
		{"unresolved degree", "vllm serve m -tp $TP", "vllm", "m", 0, "1:1"},
		{"default in braces", `vllm serve "${MODEL:-org/m}" -tp "${TP:-8}"`, "vllm", "", 0, "1:1"},
		{"here-document before", "cat > c.yaml <<'EOF'\nvllm serve other\nit's data\nEOF\nvllm serve m", "vllm", "m", 1, "5:1"},
		{"redirections", "vllm serve m 2>&1 >log -tp 2 | tee x", "vllm", "m", 2, "1:1"},
		{"process substitution", "vllm serve m -tp 2 &> >(tee x)", "vllm", "m", 2, "1:1"},
		{"docker image", "docker run --gpus all -p8000:8000 -it vllm/vllm-openai:v1 --model m -tp 2", "vllm", "m", 2, "1:39"},
		{"docker command", "sudo docker run --rm --name=x img:1 vllm serve m -tp 2", "vllm", "m", 2, "1:37"},
		{"docker entry point", "podman run --entrypoint vllm img serve m -tp 2", "vllm", "m", 2, "1:25"},
		{"docker exec", "docker exec -it -e A=b box sglang serve --model-path m --tp 2", "sglang", "m", 2, "1:28"},
		{"llama image", "docker run ghcr.io/ggml-org/llama.cpp:server-cuda -m m.gguf", "llamacpp", "m.gguf", 1, "1:12"},
		{"arguments of a process", "/usr/bin/python3\x00-m\x00sglang.launch_server\x00--model\x00org/m\x00--tp-size\x008\x00", "sglang", "org/m", 8, "1:21"},
		{"options of the script", "case $1 in\n  --tp) T=2; shift ;;\n  -x|--y) : ;;\nesac\nvllm serve m", "vllm", "m", 1, "5:1"},
		{"value of a flag", "vllm serve m --gpu-memory-utilization $G --max-model-len $L", "vllm", "m", 1, "1:1"},
		{"value or arguments", "vllm serve m --frobnicate $A", "vllm", "m", 0, "1:1"},
		{"last wins", "vllm serve m -tp 2 --tensor-parallel-size 4", "vllm", "m", 4, "1:1"},
		{"not a count", "vllm serve m -tp two", "vllm", "m", 0, "1:1"},
		{"negative value", "sglang serve --chunked-prefill-size -1 --model-path m", "sglang", "m", 1, "1:1"},
		{"address", "llama-server -m https://user:pw@example.org/m.gguf?token=t", "llamacpp", "https://example.org/m.gguf", 1, "1:1"},
	} {
		l, err := ParseLaunch("x", []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(l.Warnings) > 0 {
			t.Errorf("%s: warnings %v", c.name, l.Warnings)
		}
		tp, known := l.TP()
		if !known {
			tp = 0
		}
		if at := fmt.Sprintf("%d:%d", l.Line, l.Col); l.Engine != c.engine || l.Model != c.model || tp != c.tp || at != c.at {
			t.Errorf("%s: %s %q tp %d at %s, want %s %q %d %s", c.name, l.Engine, l.Model, tp, at, c.engine, c.model, c.tp, c.at)
		}
	}
}

func TestEnvironment(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"own line", "A=1 NCCL_DEBUG=INFO vllm serve m", "INFO"},
		{"export", "export NCCL_DEBUG=INFO\nvllm serve m", "INFO"},
		{"export later", "NCCL_DEBUG=INFO\nexport A NCCL_DEBUG\nvllm serve m", "INFO"},
		{"declare", "declare -x NCCL_DEBUG=INFO; vllm serve m", "INFO"},
		{"last", "export NCCL_DEBUG=WARN NCCL_DEBUG=INFO; vllm serve m", "INFO"},
		{"own line over export", "export NCCL_DEBUG=WARN; NCCL_DEBUG=INFO vllm serve m", "INFO"},
		{"changed after export", "export NCCL_DEBUG=WARN; NCCL_DEBUG=INFO; vllm serve m", "INFO"},
		{"env", "env NCCL_DEBUG=INFO numactl -N 0 vllm serve m", "INFO"},
		{"quoted", "NCCL_DEBUG=\"INFO\" vllm serve m", "INFO"},
		{"same branch", "if x; then export NCCL_DEBUG=INFO; vllm serve m; fi", "INFO"},
		{"same function", "f() { export NCCL_DEBUG=INFO; vllm serve m; }", "INFO"},
		{"into bash -c", "NCCL_DEBUG=INFO bash -c 'vllm serve m'", "INFO"},
		{"container", "docker run -e NCCL_DEBUG=INFO vllm/vllm-openai m", "INFO"},
		{"container, joined", "docker run -eNCCL_DEBUG=INFO --env=A=b vllm/vllm-openai m", "INFO"},
		{"container, handed on", "export NCCL_DEBUG=INFO; docker run -it -e NCCL_DEBUG vllm/vllm-openai m", "INFO"},
		{"bash in a container", "docker run -e NCCL_DEBUG=INFO img bash -c 'vllm serve m'", "INFO"},

		{"not exported", "NCCL_DEBUG=INFO; vllm serve m", ""},
		{"unset", "export NCCL_DEBUG=INFO; unset NCCL_DEBUG; vllm serve m", ""},
		{"another command's", "NCCL_DEBUG=INFO python x.py; vllm serve m", ""},
		{"after", "vllm serve m; export NCCL_DEBUG=INFO", ""},
		{"branch", "if x; then export NCCL_DEBUG=INFO; fi; vllm serve m", ""},
		{"other branch", "if x; then export NCCL_DEBUG=INFO; else vllm serve m; fi", ""},
		{"other case", "case $1 in a) export NCCL_DEBUG=INFO ;; b) vllm serve m ;; esac", ""},
		{"unresolved", "export NCCL_DEBUG=$D; vllm serve m", ""},
		{"host of a container", "export NCCL_DEBUG=INFO; docker run vllm/vllm-openai m", ""},
		{"over ssh", "export NCCL_DEBUG=INFO; ssh box 'vllm serve m'", ""},
		{"comment", "# export NCCL_DEBUG=INFO\nvllm serve m", ""},
	} {
		l, err := ParseLaunch("x", []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if v, ok := l.EnvVar("NCCL_DEBUG"); v.Value != c.want || ok != (c.want != "") {
			t.Errorf("%s: %+v %v, want %q", c.name, v, ok, c.want)
		}
	}
}

func TestMeaning(t *testing.T) {
	degree := func(f func() (int, bool)) int {
		if n, ok := f(); ok {
			return n
		}
		return -1
	}
	for _, c := range []struct {
		text               string
		pp, dp, adp, ep, c int
	}{
		{"sglang serve --model m --tp 8 --dp 4 --enable-dp-attention --pp 2", 2, 1, 4, 1, 1},
		{"sglang serve --model m --tp 8 --dp 4", 1, 4, 1, 1, 1},
		{"sglang serve --model m --tp 8 --ep 8 --dcp 2", 1, 1, 1, 8, 2},
		{"sglang serve --model m --tp 8 --enable-ep-moe", 1, 1, 1, 8, 1},
		{"sglang serve --model m --tp 8 --moe-a2a-backend none", 1, 1, 1, 1, 1},
		{"vllm serve m -tp 4 -pp 2 -dp 2 -ep -dcp 4", 2, 2, 1, 8, 4},
		{"vllm serve m -tp 4 --no-enable-expert-parallel", 1, 1, 1, 1, 1},
		{"vllm serve m -tp 4 -ep $X", 1, 1, 1, 4, 1},
		{"vllm serve m -tp $N -ep", 1, 1, 1, -1, 1},
		{"trtllm-serve m --tp_size 8 --ep_size 4 --pp_size 2", 2, 1, 1, 4, -1},
		{"trtllm-serve m --config c.yaml", -1, -1, -1, -1, -1},
	} {
		l := parse(t, c.text)
		if strings.Contains(c.text, "$X") && l.Complete() {
			t.Errorf("%s: complete", c.text)
		}
		if strings.Contains(c.text, "$X") {
			continue // nothing that is not set is known then
		}
		got := []int{degree(l.PP), degree(l.DP), degree(l.AttentionDP), degree(l.EP), degree(l.DCP)}
		if want := []int{c.pp, c.dp, c.adp, c.ep, c.c}; !slices.Equal(got, want) {
			t.Errorf("%s: pp, dp, attention dp, ep, dcp %v, want %v", c.text, got, want)
		}
	}
	for text, want := range map[string]roofline.DType{
		"vllm serve m --kv-cache-dtype fp8":        roofline.FP8,
		"vllm serve m --kv-cache-dtype bfloat16":   roofline.BF16,
		"vllm serve m --kv-cache-dtype auto":       "",
		"vllm serve m --kv-cache-dtype fp8_ds_mla": "",
		"vllm serve m":                                     "",
		"llama-server -m m":                                roofline.FP16,
		"llama-server -m m -ctk q8_0 -ctv q8_0":            roofline.Q8_0,
		"llama-server -m m -ctk q8_0 -ctv q4_0":            "",
		"sglang serve --model m --kv-cache-dtype fp4_e2m1": roofline.NVFP4,
		"llama-server -m m -ctk bf16 -ctv bf16":            roofline.BF16,
		"llama-server -m m -ctk bf16":                      "",
		"sglang serve --model m --kv-cache-dtype $DTYPE":   "",
	} {
		if d, ok := parse(t, text).KVDType(); d != want || ok != (want != "") {
			t.Errorf("%s: %q %v", text, d, ok)
		}
	}
	if q, ok := parse(t, "vllm serve m -q awq_marlin").QuantMethod(); !ok || q != "awq_marlin" {
		t.Errorf("quantization %q %v", q, ok)
	}
	if n, ok := parse(t, "llama-server -m m -np 4").MaxRunning(); !ok || n != 4 {
		t.Errorf("max running %d %v", n, ok)
	}
	if n, _, ok := parse(t, `vllm serve m -cc '{"cudagraph_capture_sizes":[1,2,48]}'`).GraphMaxBatch(); !ok || n != 48 {
		t.Errorf("graph size %d %v", n, ok)
	}
}

// TestSecrets plants what must not leave the file in every place it could.
func TestSecrets(t *testing.T) {
	const s = "Sesame0pen77xYzQ"
	for _, text := range []string{
		"HF_TOKEN=" + s + " vllm serve m",
		"export NCCL_MY_KEY=" + s + "\nvllm serve m",
		"SECRET=" + s + "\nvllm serve m",
		"DB=postgres://u:" + s + "@h/x vllm serve m",
		"vllm serve m --api-key " + s,
		"vllm serve m --api-key=" + s,
		"vllm serve m --api_key " + s,
		"vllm serve m --hf-token '" + s + "'",
		"vllm serve m --api-key \"${KEY:-" + s + "}\"",
		"vllm serve m --seed ${X:-" + s + "} $(cat " + s + ") `echo " + s + "`",
		"sglang serve --model m --admin-api-key " + s,
		"llama-server -m m --api-key-file /run/" + s,
		"llama-server -m m -hft " + s,
		"vllm serve m --ssl-keyfile " + s + " --ssl-certfile=" + s,
		"vllm serve m --unheard-of hf_" + s,
		"vllm serve m --unheard-of sk-" + s,
		"vllm serve m --unheard-of " + s + s,
		"vllm serve m --host " + s + ".example.org --dist-init-addr " + s + ":5000",
		"vllm serve m --download-dir /home/" + s + " --chat-template " + s + "/t.jinja",
		"vllm serve m --kv-transfer-config '{\"kv_connector\":\"P\",\"host\":\"" + s + ".local\",\"auth\":{\"token\":\"" + s + "\"}}'",
		"vllm serve m --hf-overrides '{\"password\":\"" + s + "\",\"note\":\"" + s + " in words/with a path\"}'",
		"vllm serve https://u:" + s + "@h/m?token=" + s + "#" + s,
		"docker run -e HF_TOKEN=" + s + " -e \"AUTH=" + s + "\" -v /" + s + ":/x vllm/vllm-openai m",
		"HF_TOKEN=" + s + " bash -c 'vllm serve m'",
		"NCCL_COMM_ID=" + s + ":9 NCCL_TOPO_FILE=/" + s + "/t.xml vllm serve m",
		"A=" + s + "\x00vllm\x00serve\x00m\x00--api-key\x00" + s,
	} {
		l, err := ParseLaunch("x", []byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if out := raw(l) + describe(l); strings.Contains(out, s) {
			i := strings.Index(out, s)
			t.Errorf("%q leaks: …%s…", text, out[max(0, i-60):min(len(out), i+60)])
		}
	}
	// And what must stay: names with the same words in them that are no secrets.
	l := parse(t, "TOKENIZERS_PARALLELISM=true vllm serve m --max-num-batched-tokens 8192 --tokenizer-mode auto")
	if f, _ := l.Flag("max-num-batched-tokens"); f.Value != "8192" {
		t.Errorf("%+v", f)
	}
	if v, ok := l.EnvVar("TOKENIZERS_PARALLELISM"); !ok || v.Value != "true" {
		t.Errorf("%+v", v)
	}
}

// TestErrors checks that an error says where, what and what to do.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"launch.sh", "", []string{"launch.sh", "vllm serve", "give the command line"}},
		{"launch.sh", "python train.py", []string{"no command that starts a known server"}},
		{"launch.sh", "echo vllm serve m", []string{"no command"}},
		{"launch.sh", "vllm bench serve --model m", []string{"no command"}},
		{"launch.sh", "vllm serve 'm\n", []string{"launch.sh:1:12", "quote does not end"}},
		{"launch.sh", "x\nvllm serve \"m", []string{"launch.sh:2:12", "quote does not end"}},
		{"launch.sh", "vllm serve $(x", []string{"launch.sh:1:13", "does not end"}},
		{"launch.sh", "vllm serve ${x", []string{"launch.sh:1:13", "does not end"}},
		{"launch.sh", "vllm serve `x", []string{"launch.sh:1:12", "does not end"}},
		{"launch.sh", "vllm serve $'x", []string{"launch.sh:1:12", "does not end"}},
		{"launch.sh", "a=(1 2\nvllm serve m", []string{"launch.sh:1:3", "array a does not end"}},
		{"launch.sh", "cat <<EOF\nvllm serve m\n", []string{"launch.sh:1:5", "EOF", "does not end"}},
		{"launch.sh", "vllm serve m $" + strings.Repeat("($", 100) + "(", []string{"nested more than 64 deep"}},
		{"launch.sh", strings.Repeat("if x; then ", 100) + "vllm serve m", []string{"nested more than 64 deep"}},
		{"launch.sh", strings.Repeat("a ", maxWords+1), []string{"more than 65536 words"}},
		{"launch.sh", strings.Repeat("a\x00", maxWords+1), []string{"more than 65536 arguments"}},
		{"launch.sh", strings.Repeat("#", maxBytes+1), []string{"1048577 bytes", "at most 1048576"}},
		{"kubernetes.yaml", string(fixture(t, "kubernetes.yaml")), []string{"kubernetes.yaml", "Kubernetes", "command line"}},
		{"k8s", string(fixture(t, "kubernetes.yaml")), []string{"Kubernetes"}},
		{"c", "services:\n  vllm:\n    command: vllm serve m\n", []string{"compose", "command line"}},
		{"\x1b[2Jbad\nname", "x", []string{"[2Jbadname holds"}},
	} {
		_, err := ParseLaunch(c.name, []byte(c.text))
		if err == nil {
			t.Errorf("%.40q: no error", c.text)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%.40q: %q lacks %q", c.text, err, want)
			}
		}
		if strings.ContainsAny(err.Error(), "\x1b\n\x00") {
			t.Errorf("%q holds control characters", err)
		}
	}
}

// TestHostile reads what is made to take long, to overflow or to reach a
// terminal; it must come back with bounded output.
func TestHostile(t *testing.T) {
	double := "a0=(x x)\n"
	for i := range 40 {
		double += fmt.Sprintf("a%d=(\"${a%d[@]}\" \"${a%d[@]}\")\n", i+1, i, i)
	}
	nest := "vllm serve m"
	for range 10 {
		nest = "bash -c '" + strings.ReplaceAll(nest, "'", `'\''`) + "'"
	}
	for name, text := range map[string]string{
		"arrays that double":        double + "vllm serve m \"${a40[@]}\"",
		"an array of itself":        "a=(\"${a[@]}\" -x)\nvllm serve m \"${a[@]}\"",
		"many appends and readers":  "a=(x)\n" + strings.Repeat("a+=(y)\n", 9000) + strings.Repeat("f \"${a[@]}\"\n", 9000) + "vllm serve m",
		"many variables and quotes": strings.Repeat("A=b; ", 9000) + strings.Repeat("f 'vllm serve'\n", 9000) + "vllm serve m",
		"many servers":              strings.Repeat("vllm serve m\n", 20000),
		"scripts in scripts":        "vllm serve m\n" + nest,
		"one long word":             "vllm serve m --x " + strings.Repeat("y", 1<<19),
		"one long flag":             "vllm serve m --" + strings.Repeat("y", 1<<19),
		"many flags":                "vllm serve m " + strings.Repeat("--x y ", 30000),
		"many references":           "vllm serve m " + strings.Repeat("$x ", 30000),
		"many dollars":              "vllm serve m " + strings.Repeat("$", 1<<19),
		"deep JSON":                 "vllm serve m --compilation-config '" + strings.Repeat(`{"a":`, 3000) + "1" + strings.Repeat("}", 3000) + "'",
		"broken JSON":               "vllm serve m --speculative-config '{\"method\":'",
		"JSON after JSON":           "vllm serve m --speculative-config '{\"method\":\"a\"} {\"method\":\"b\"}'",
		"escapes":                   "NCCL_DEBUG=$'\\x1b[2J' vllm serve 'm\x1b]0;x\x07\r\nn\u202e' --tp-x '\x1b[31m' --served-model-name '\x9b2J'",
		"not UTF-8":                 "vllm serve m\xff\xfe --quantization \xc3\x28",
		"NUL inside":                "vllm\x00serve\x00m\x1b[2J\x00--x\x00\x1b",
		"dashes":                    "vllm serve m - -- --- --=x -=y --- ---x --1 -9z",
		"options without a name":    "docker run -=x --=y - vllm serve m; vllm serve m",
		"backslash at the end":      "vllm serve m \\",
		"case without end":          "case x in ;; ;; ) esac fi done } vllm serve m\nvllm serve m",
	} {
		l, err := ParseLaunch("x", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		out := raw(l)
		if i := bytes.IndexFunc([]byte(out), func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0xfffd }); i >= 0 {
			t.Errorf("%s: %q reaches the output", name, out[max(0, i-20):min(len(out), i+20)])
		}
		if !strings.HasPrefix(name, "many") && len(out) > 20000 {
			t.Errorf("%s: %d bytes of output", name, len(out))
		}
		if len(l.Unread) > 50 || len(l.Warnings) > 21 {
			t.Errorf("%s: %d unread, %d warnings", name, len(l.Unread), len(l.Warnings))
		}
	}
}

// raw is everything a launch holds and finds, unquoted.
func raw(l *Launch) string {
	return fmt.Sprintf("%v %v %v %v %v %v %v %v", l.Name, l.Model, l.ServedName, l.Wrappers, l.Flags, l.Env, l.Facts(), Run(&Facts{Launch: l})) +
		fmt.Sprint(l.Unread, l.Warnings)
}
