package nearest

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"far", "far", 0}, {"fra", "far", 1}, {"", "abc", 3}, {"miso", "misso", 1}, {"a100", "h100", 1}, {"ca", "abc", 3}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestDistanceIsSymmetricAndZeroOnlyForEqual(t *testing.T) {
	word := rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 0, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := distance(a, b)
		if d != distance(b, a) || (d == 0) != (a == b) || d > max(len(a), len(b)) {
			t.Fatalf("distance(%q, %q) = %d, reversed %d", a, b, d, distance(b, a))
		}
	})
}

func TestUnknownNamesTheNearest(t *testing.T) {
	err := Unknown("algorithm", "FARR", []string{"miso", "far", "fixpart"})
	if want := `unknown algorithm "FARR"; did you mean "far"? (known: far, fixpart, miso)`; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	if err := Unknown("paper", "x", nil); strings.Contains(err.Error(), "mean") {
		t.Errorf("%q suggests something where nothing is known", err)
	}
}

func TestUnknownSuggestsOnlyWhatIsNear(t *testing.T) {
	commands := []string{"leaderboard", "run", "site", "status", "train"}
	for name, want := range map[string]string{
		"nope": "", "version": "", "foo": "", "": "", "ru": "run", "lea": "leaderboard", "le": "", "leaderbaord": "leaderboard", "Trian": "train", "sites": "site",
	} {
		var unknown *UnknownError
		if err := Unknown("command", name, commands); !errors.As(err, &unknown) || unknown.Nearest != want {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}
