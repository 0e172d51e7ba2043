package kineto

import (
	"bytes"
	"math"
	"math/big"
)

// nanoseconds turns microseconds in decimal text into whole nanoseconds, a tie
// to the even one. It refuses what is no finite number, and what is beyond 292
// years.
func nanoseconds(t []byte) (int64, bool) {
	neg := false
	u := t
	if len(u) > 0 && u[0] == '-' {
		neg, u = true, u[1:]
	}
	n := digits(u)
	if n == 0 || n > 16 {
		return roundly(t)
	}
	var ns int64
	for _, c := range u[:n] {
		ns = ns*10 + int64(c-'0')
	}
	if ns > math.MaxInt64/1000-1 {
		return 0, false
	}
	u = u[n:]
	if len(u) == 0 {
		ns *= 1000
	} else {
		if u[0] != '.' || len(u) > 4 || digits(u[1:]) != len(u)-1 || len(u) == 1 {
			return roundly(t)
		}
		for i := 1; i < 4; i++ {
			ns *= 10
			if i < len(u) {
				ns += int64(u[i] - '0')
			}
		}
	}
	if neg {
		ns = -ns
	}
	return ns, true
}

// roundly is nanoseconds for numbers with an exponent or many digits.
func roundly(t []byte) (int64, bool) {
	if len(t) > maxToken || !isNumber(t) {
		return 0, false
	}
	if e := bytes.IndexAny(t, "eE"); e >= 0 && len(t)-e > 4 {
		return 0, false // an exponent of three digits is no time
	}
	x, ok := new(big.Rat).SetString(string(t))
	if !ok {
		return 0, false
	}
	x.Mul(x, big.NewRat(1000, 1))
	q, r := new(big.Int).QuoRem(x.Num(), x.Denom(), new(big.Int))
	half := new(big.Int).Abs(new(big.Int).Lsh(r, 1)).Cmp(x.Denom())
	if half > 0 || half == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(int64(x.Sign())))
	}
	return q.Int64(), q.IsInt64()
}

// integer reads a whole number; 7.0 is one, and so is the 7 of "stream 7".
func (v value) integer() (int64, bool) {
	t := v.raw
	if v.quoted {
		if k := bytes.LastIndexByte(t, ' '); k >= 0 {
			t = t[k+1:]
		}
	}
	neg := len(t) > 0 && t[0] == '-'
	if neg {
		t = t[1:]
	}
	n := digits(t)
	if n == 0 || n > 19 {
		return 0, false
	}
	var x uint64
	for _, c := range t[:n] {
		x = x*10 + uint64(c-'0')
	}
	if t = t[n:]; len(t) > 0 && (t[0] != '.' || len(bytes.Trim(t[1:], "0")) > 0) {
		return 0, false
	}
	if x > math.MaxInt64 {
		return 0, false
	}
	if neg {
		return -int64(x), true
	}
	return int64(x), true
}

// id reads an identifier; 0 stands for none and for what does not fit.
func (v value) id() uint64 {
	if x, ok := v.integer(); ok && x > 0 {
		return uint64(x)
	}
	return 0
}
