package counters

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/datasets"
	"miglab/harness/mig"
)

// ncuFile was made by hand, as its first line says.
const ncuFile = "testdata/ncu.csv"

func ncuText(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(ncuFile)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// lud is what the launches of ncuFile make, worked out by hand: the durations are 1, 3
// and 4 ms.
var lud = datasets.Counters{
	Launches: 3, Duration: 0.008, Memory: 60, ElapsedCycles: 11_200_000, GridSize: 38912.125, Registers: 31,
	DRAM: 50.0625, L1: 46, L2: 36.5, ActiveCycles: 9_610_001, Compute: 40.75, Waves: 22.52,
	ActiveWarps: 360. / 7, // the first launch has none
}

// closeTo compares counters up to rounding; NaN equals NaN.
func closeTo(a, b datasets.Counters) bool {
	for _, c := range table {
		x, y := *c.of(&a), *c.of(&b)
		if !(math.Abs(x-y) <= 1e-9*math.Abs(x) || math.IsNaN(x) && math.IsNaN(y)) {
			return false
		}
	}
	return a.Launches == b.Launches
}

func TestParse(t *testing.T) {
	got, err := Parse(strings.NewReader(ncuText(t)), ncuFile)
	if err != nil || !closeTo(got, lud) {
		t.Errorf("%+v, %v; want %+v", got, err, lud)
	}
}

// What is between the lines and how they end changes nothing.
func TestParseAround(t *testing.T) {
	text := ncuText(t)
	header := strings.Index(text, `"ID"`)
	for name, changed := range map[string]string{
		"table alone":         text[header:],
		"Windows":             strings.ReplaceAll(text, "\n", "\r\n"),
		"message at the end":  text + "==PROF== Report: none\n",
		"message in between":  strings.Replace(text, "\n\"1\"", "\n==WARNING== Something.\n\"1\"", 1),
		"old unit":            strings.Replace(text, `"ns"`, `"nsecond"`, 1),
		"table of each":       strings.Replace(text, "\n\"1\"", "\n"+strings.Join(strings.SplitAfter(text[header:], "\n")[:2], "")+"\"1\"", 1),
		"marked n/a":          strings.Replace(text, `"n/a"`, `"(!) nan"`, 1),
		"nothing for n/a":     strings.Replace(text, `"n/a"`, `""`, 1),
		"without end of line": strings.TrimSpace(text),
	} {
		got, err := Parse(strings.NewReader(changed), "f")
		if err != nil || !closeTo(got, lud) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, lud)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	text := ncuText(t)
	replace := func(old, new string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("%q is not in %s", old, ncuFile)
		}
		return strings.Replace(text, old, new, 1)
	}
	for _, c := range []struct {
		name, text string
		says       string
	}{
		{"nothing", "", `f:1: there is no table: no line begins with "ID"`},
		{"messages alone", "==PROF== Connected to process 1\n", `f:1: there is no table`},
		{"no launches", text[:strings.Index(text, "\"0\",")], "f:1: there are no launches"},
		{"missing metric", replace("sm__cycles_active.avg", "sm__cycles_active.sum"), "f:7: sm__cycles_active.avg: the column is missing; ask for it with --metrics"},
		{"scaled unit", replace(`"ns"`, `"us"`), `f:8: gpu__time_duration.sum: the unit is "us"; it has to be ns`},
		{"cut off", text[:len(text)-30], "f:11: "},
		{"a field too many", replace(`"60.00"`, `"60.00","1"`), "f:10: the line has 24 fields, the header 23"},
		{"a word", replace(`"75.00"`, `"many"`), `f:10: sm__throughput.avg.pct_of_peak_sustained_elapsed: "many" is not a number`},
		{"negative", replace(`"75.00"`, `"-75.00"`), `f:10: sm__throughput.avg.pct_of_peak_sustained_elapsed: "-75.00" is not`},
		{"infinite", replace(`"75.00"`, `"inf"`), `f:10: sm__throughput.avg.pct_of_peak_sustained_elapsed: "inf" is not`},
		{"odd groups", replace(`"16,384"`, `"1,63,84"`), `f:10: launch__grid_size: "1,63,84" is not`},
		{"too large", replace(`"16,384"`, `"1e18"`), `f:10: launch__grid_size: "1e18" is not`},
		{"no duration", replace(`"3,000,000"`, `"n/a"`), `f:10: gpu__time_duration.sum: "n/a" is not the duration`},
		{"zero duration", replace(`"3,000,000"`, `"0"`), `f:10: gpu__time_duration.sum: "0" is not the duration`},
		{"two notations", replace(`"75.00"`, `"75,00"`), `f:10: sm__throughput.avg.pct_of_peak_sustained_elapsed: "75,00" is written otherwise than the numbers on line `},
		{"another table", text + "\"ID\",\"x\"\n", "f:12: a second table has other columns"},
	} {
		got, err := Parse(strings.NewReader(c.text), "f")
		if err == nil || !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%s: %+v, %v; want the error %q", c.name, got, err, c.says)
		}
	}
}

func TestSumWithoutALaunchIsNotAvailable(t *testing.T) {
	text := strings.Replace(ncuText(t), `"10,000.50"`, `"n/a"`, 1)
	got, err := Parse(strings.NewReader(text), "f")
	if err != nil || !math.IsNaN(got.ActiveCycles) || got.ElapsedCycles != lud.ElapsedCycles {
		t.Errorf("%+v, %v; want no active cycles", got, err)
	}
	text = strings.NewReplacer(`"40.00"`, `"n/a"`, `"60.00"`, `"n/a"`).Replace(ncuText(t))
	got, err = Parse(strings.NewReader(text), "f")
	if err != nil || !math.IsNaN(got.ActiveWarps) {
		t.Errorf("%+v, %v; want no active warps", got, err)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		cell         string
		point, comma float64 // -1: not a number
	}{
		{"0", 0, 0},
		{"117.344", 117.344, 117344},
		{"117,344", 117344, 117.344},
		{"0.125", 0.125, -1},
		{"65,77", -1, 65.77},
		{"1,215,000,000.00", 1215000000, -1},
		{"27.595.520", -1, 27595520},
		{"1.234,5", -1, 1234.5},
		{"1234567", 1234567, 1234567},
		{"1.5e+09", 1.5e9, -1},
		{".5", -1, -1},
		{"5.", -1, -1},
		{" 5", -1, -1},
		{"0,000", -1, 0},
		{"0x10", -1, -1},
		{"1_000", -1, -1},
	} {
		for n, want := range map[*notation]float64{&point: c.point, &comma: c.comma} {
			if got, ok := n.parse(c.cell); ok != (want >= 0) || ok && got != want {
				t.Errorf("%q with decimal %q: %v, %v; want %v", c.cell, n.decimal, got, ok, want)
			}
		}
	}
}

// cell writes a number as a language does, with groups of three digits.
func cell(v float64, n notation) string {
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(v, 'f', 2, 64), ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + n.group + whole[i:]
	}
	return whole + n.decimal + fraction
}

// The language that Nsight Compute follows changes nothing, and neither does the order
// of launches; means lie between their launches.
func TestParseProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		launches := make([]datasets.Counters, rapid.IntRange(1, 5).Draw(t, "launches"))
		for i := range launches {
			for _, c := range table {
				*c.of(&launches[i]) = float64(rapid.IntRange(1, 1e9).Draw(t, c.metric)) / 100
			}
		}
		parse := func(n notation, order []int) datasets.Counters {
			var b strings.Builder
			b.WriteString(`"ID"`)
			for _, c := range table {
				fmt.Fprintf(&b, ",%q", c.metric)
			}
			b.WriteString("\n\"\",\"ns\"" + strings.Repeat(",\"\"", len(table)-1) + "\n")
			for id, i := range order {
				fmt.Fprintf(&b, "%q", strconv.Itoa(id))
				for _, c := range table {
					fmt.Fprintf(&b, ",%q", cell(*c.of(&launches[i]), n))
				}
				b.WriteByte('\n')
			}
			got, err := Parse(strings.NewReader(b.String()), "f")
			if err != nil {
				t.Fatalf("%v in\n%s", err, b.String())
			}
			return got
		}
		order := make([]int, len(launches))
		for i := range order {
			order[i] = i
		}
		all := parse(point, order)
		if other := parse(comma, rapid.Permutation(order).Draw(t, "order")); !closeTo(all, other) {
			t.Fatalf("%+v in English, %+v in another language and order", all, other)
		}
		for _, c := range table {
			low, high, sum := math.Inf(1), math.Inf(-1), 0.
			for i := range launches {
				v := *c.of(&launches[i])
				low, high, sum = min(low, v), max(high, v), sum+v
			}
			got := *c.of(&all)
			if c.metric == duration {
				sum *= 1e-9
			}
			if c.sum && math.Abs(got-sum) > 1e-9*sum || !c.sum && (got < low*(1-1e-9) || got > high*(1+1e-9)) {
				t.Fatalf("%s is %v for launches from %v to %v, together %v", c.metric, got, low, high, sum)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	text := ncuText(f)
	f.Add(text)
	f.Add(strings.NewReplacer("1,400,000", "1.400.000", "10.00", "10,00").Replace(text))
	f.Add(text[strings.Index(text, `"ID"`):])
	f.Add("\"ID\"\n\"\"\n\"0\"\n")
	f.Add("==ERROR== ERR_NVGPUCTRPERM\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		if c.Launches < 1 || !(c.Duration > 0) || c.Duration > mig.Seconds(math.MaxFloat64) {
			t.Errorf("%+v", c)
		}
		for _, k := range table {
			if v := *k.of(&c); v < 0 || math.IsInf(v, 0) {
				t.Errorf("%s is %v", k.metric, v)
			}
		}
	})
}
