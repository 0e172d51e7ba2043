package classify

import (
	"regexp"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// maxName bounds the bytes of a name that are looked at; template names of
// Tensile and CUTLASS run to 3 KB, and what tells them apart comes early.
const maxName = 4096

// maxNormal bounds the normalised name, which every rule is tried on.
const maxNormal = 2048

var (
	// nsys writes template arguments with casts: (int)4, (bool)1.
	castRE = regexp.MustCompile(`\((?:int|bool|unsigned int|unsigned long|unsigned char|long|short|char|signed char)\)(-?\d)`)
	// nsys writes lambdas as [lambda(float) (instance 3)].
	lambdaRE = regexp.MustCompile(`\[lambda\(([^()\[\]]*)\) \(instance (\d+)\)\]`)
	// nsys keeps the return type of templates.
	enableIfRE = regexp.MustCompile(`^(?:typename )?std::enable_if<.{0,400}?, ?[\w ]+>::type +`)
)

// Normalize brings the spellings of Kineto, Nsight Systems and Nsight Compute
// to one: demangled, without return type, argument list and clone suffix, and
// no longer than maxNormal. It never fails: what it cannot read it leaves.
func Normalize(name string) string {
	if len(name) > maxName {
		name = name[:maxName]
	}
	name = strings.TrimSpace(name)
	name = strings.TrimSuffix(name, ".kd") // ROCm's kernel descriptors
	if strings.HasPrefix(name, "_Z") {
		name = demangled(name)
	}
	name = strings.ReplaceAll(name, "<unnamed>", "{anon}")
	name = strings.ReplaceAll(name, "(anonymous namespace)", "{anon}")
	name = strings.ReplaceAll(name, "operator ()", "operator()")
	if strings.Contains(name, "(") {
		name = castRE.ReplaceAllString(name, "$1")
		name = lambdaRE.ReplaceAllString(name, "{lambda($1)#$2}")
	}
	name = strings.ReplaceAll(name, " *", "*")
	name = strings.ReplaceAll(name, " &", "&")
	if i := strings.Index(name, " [clone"); i > 0 {
		name = name[:i]
	}
	name = stripArguments(name)
	name = enableIfRE.ReplaceAllString(name, "")
	name = strings.TrimSpace(strings.TrimPrefix(name, "void "))
	if len(name) > maxNormal {
		name = name[:maxNormal]
	}
	return name
}

// Demangle is a kernel's name in C++ spelling for people, or the name itself
// where it is not mangled or is no complete Itanium name.
func Demangle(name string) string {
	plain := strings.TrimSuffix(name, ".kd")
	if !strings.HasPrefix(plain, "_Z") || len(plain) > maxName {
		return name
	}
	return demangled(plain)
}

// demangled is name in C++ spelling, or name where it is no complete Itanium
// name (CK-tile and AITER leave theirs mangled, profilers cut long ones).
func demangled(name string) string {
	out, err := demangle.ToString(name, demangle.NoClones, demangle.MaxLength(13))
	if err != nil && strings.Contains(name, "DF16b") {
		// The library lacks the type of C++23 that ROCm's compilers write;
		// the same as a type of a vendor.
		out, err = demangle.ToString(strings.ReplaceAll(name, "DF16b", "u6__bf16"), demangle.NoClones, demangle.MaxLength(13))
	}
	if err != nil || out == "" {
		return name
	}
	return out
}

// stripArguments cuts a function's argument list, which repeats the words of
// other families (at::native::reduce_kernel takes a ReduceOp of anything).
func stripArguments(name string) string {
	end := len(name)
	for _, suffix := range []string{" const", " volatile", " noexcept"} {
		if strings.HasSuffix(name[:end], suffix) {
			end -= len(suffix)
		}
	}
	if end == 0 || name[end-1] != ')' {
		return cutArguments(name)
	}
	depth := 0
	for i := end - 1; i >= 0; i-- {
		switch name[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				if i == 0 || strings.HasSuffix(name[:i], "operator") {
					return name
				}
				return name[:i]
			}
		}
	}
	return name
}

// cutArguments handles a name that was cut inside its argument list: the list
// begins at the first parenthesis outside template brackets.
func cutArguments(name string) string {
	depth := 0
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '<', '{', '[':
			depth++
		case '>', '}', ']':
			if i > 0 && name[i-1] == '-' {
				continue
			}
			if depth > 0 {
				depth--
			}
		case '(':
			if depth == 0 && i > 0 && !strings.HasSuffix(name[:i], "operator") {
				return name[:i]
			}
		}
	}
	return name
}
