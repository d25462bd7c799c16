package launch

import (
	"strings"
	"testing"

	"miglab/harness/mig"
)

const altisHead = "test, atts, units, median, mean, stddev, min, max, \n"

func TestAltisTime(t *testing.T) {
	for _, c := range []struct {
		name, csv, row string
		want           mig.Seconds
		err            string
	}{
		{"sec", altisHead + "a, x, sec, 2, 9, 9, 9, 9, \n\n", "a", 2, ""},
		{"seconds", altisHead + "a, x, seconds, 2e-3, 9, 9, 9, 9, \n", "a", 2e-3, ""},
		{"ms", altisHead + "a, x, ms, 4, 9, 9, 9, 9, \n", "a", 4e-3, ""},
		{"us", altisHead + "a, x, us, 4, 9, 9, 9, 9, \n", "a", 4e-6, ""},
		{"no spaces", "test,atts,units,median,mean,stddev,min,max,\n a,x,y,sec,2,9,9,9,9,\n", "a, x,y", 2, ""},
		{"CRLF", "test, atts, units, median, mean, stddev, min, max, \r\na, x, sec, 2, 9, 9, 9, 9, \r\n", "a", 2, ""},
		{"no space at the end", altisHead + "a, x, sec, 2, 9, 9, 9, 9,", "a", 2, ""},
		{"no attributes", altisHead + "a, , sec, 2, 9, 9, 9, 9, \n", "a", 2, ""},
		{"commas in attributes", altisHead + "a, dimx:128,dimy:128, sec, 2, 9, 9, 9, 9, \n", "a, dimx:128,dimy:128", 2, ""},
		{"among others", altisHead + "ab, x, sec, 1, 9, 9, 9, 9, \na, x, sec, 2, 9, 9, 9, 9, \nA, x, sec, 3, 9, 9, 9, 9, \n", "a", 2, ""},
		{"by attributes", altisHead + "a, x, sec, 1, 9, 9, 9, 9, \na, y, sec, 2, 9, 9, 9, 9, \n", "a, y", 2, ""},
		{"twice", altisHead + strings.Repeat("a, x, sec, 1, 9, 9, 9, 9, \n", 2), "a, x", 0, `the CSV has 2 rows "a, x"; name one with its attributes, for example "a, x"`},
		{"empty", "", "a", 0, `the CSV begins with "" instead of the header test, atts, units, median, mean, stddev, min, max`},
		{"tabs", "test\tatts\tunits\n", "a", 0, `the CSV begins with "test atts units" instead of the header test, atts, units, median, mean, stddev, min, max`},
		{"cut off", altisHead + "a, x, sec, 2, 9", "a", 0, `the CSV has no row "a"`},
		{"unit", altisHead + "a, x, sec/iteration, 2, 9, 9, 9, 9, \n", "a", 0, `the CSV's row "a" is in sec/iteration, which is not a unit of time`},
		{"not available", altisHead + "a, x, sec, N/A, N/A, N/A, N/A, N/A, \n", "a", 0, `"N/A" is not a number`},
	} {
		got, err := altisTime(c.csv, c.row)
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%s: %v, %v\nwant %s", c.name, got, err, c.err)
			}
		} else if err != nil || got != c.want {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
	}
}

func FuzzAltisTime(f *testing.F) {
	f.Add(altisHead+"a, x, sec, 2, 9, 9, 9, 9, \n", "a")
	f.Add(altisHead+",,,,,,,,\n", "")
	f.Fuzz(func(t *testing.T, csv, row string) {
		if _, err := altisTime(csv, row); err != nil && err.Error() == "" {
			t.Error("an error that says nothing")
		}
	})
}
