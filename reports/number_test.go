package reports

import "testing"

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{millis(95.14), "95.14"}, {millis(3.076), "3.076"}, {millis(128.95), "128.95"}, {millis(4321.06), "4321.1"},
		{millis(0), "0.000"}, {millis(1e-6), "<0.001"}, {millis(-2.5), "−2.500"}, {millis(1e18), "1.000e+18"}, {millis(1e-300), "<0.001"},
		{micros(87.713), "87.713"}, {micros(-0.0000001), "0.000"}, {signed(2.076), "+2.076"}, {signed(-0.5), "−0.500"}, {signed(0), "+0.000"},
		{rate(10.5108), "10.51"}, {rate(194.1), "194"}, {rate(0.25), "0.25"},
		{percent(0.05415), "5.4 %"}, {percent(0.0075), "0.75 %"}, {percent(0.00012), "0.012 %"}, {percent(1), "100.0 %"}, {percent(0), "0.0 %"},
		{percent(1e-9), "<0.001 %"}, {percent(-0.5), "−50.0 %"}, {percent(12.345), "1234 %"},
		{times(4.909), "4.9×"}, {times(1), "1.00×"}, {times(123.4), "123×"}, {times(0.5), "0.50×"},
		{change(67.2), "+67.2 %"}, {change(-28.3), "−28.3 %"}, {change(0), "+0.0 %"},
		{scaled(1.792e12, "B/s"), "1.792 TB/s"}, {scaled(10.4e-6, "s"), "10.40 μs"}, {scaled(12.29e3, "B"), "12.29 kB"}, {scaled(238e6, "B"), "238.0 MB"},
		{scaled(0, "B"), "0"}, {scaled(5, "B"), "5 B"}, {scaled(-3e9, "B"), "−3.000 GB"}, {scaled(1e300, "B"), "1.000e+285 PB"}, {scaled(1e-12, "s"), "0.001 ns"},
		{exactly(12288), "12,288 B"}, {exactly(9.196e9), "9.196 GB"}, {exactly(-1), "-1 B"},
		{whole(1234567), "1,234,567"}, {whole(-1234), "-1,234"}, {whole(12), "12"},
		{parameters(743900000000), "743.90 B"}, {parameters(0), absent}, {parameters(1235814400), "1.24 B"},
		{roughly(5.9), "5.9"}, {roughly(0.717), "0.72"}, {roughly(158.2), "158"}, {roughly(0.0123), "0.012"},
		{plain(10.36), "10.36"}, {plain(1024), "1024"}, {optional(nil, millis), absent},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
