package datasets

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"miglab/harness/strictcsv"
)

// A round is a row of rounds.csv.
type round struct {
	Suite     string `csv:"suite"`
	Hash      string `csv:"seed_sha256"`
	Published string `csv:"published"`
	Seed      string `csv:"seed"`
	Opened    string `csv:"opened"`
}

var digits = regexp.MustCompile(`^[0-9a-f]{64}$`)

// check returns an error unless the hash is one, and an opened seed has it, came after it and can be drawn from.
func (r *round) check() error {
	published, err := time.Parse(time.DateOnly, r.Published)
	if err != nil || !digits.MatchString(r.Hash) {
		return fmt.Errorf("hash %q, published %q", r.Hash, r.Published)
	}
	if r.Seed == "" && r.Opened == "" {
		return nil
	}
	opened, err := time.Parse(time.DateOnly, r.Opened)
	if sum := sha256.Sum256([]byte(r.Seed)); err != nil || !opened.After(published) || !digits.MatchString(r.Seed) || hex.EncodeToString(sum[:]) != r.Hash {
		return fmt.Errorf("seed %q, opened %q, has the hash %x", r.Seed, r.Opened, sum)
	}
	seed, err := strconv.ParseUint(r.Seed[:12], 16, 64)
	if err == nil {
		_, err = Parse(fmt.Sprintf("WIDETIMES?seed=%d", seed))
	}
	return err
}

func TestRounds(t *testing.T) {
	file, err := os.Open("rounds.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rounds, err := strictcsv.Read[round](file, file.Name(), "no rounds", "seed", "opened")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rounds.Rows {
		if err := r.check(); err != nil {
			t.Errorf("%s: %v", r.Suite, err)
		}
	}
}

func TestRoundsThatAreWrong(t *testing.T) {
	const seed = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	sum := sha256.Sum256([]byte(seed))
	hash := hex.EncodeToString(sum[:])
	command := exec.Command("sh", "-c", `printf %s "$SEED" | sha256sum`) // as README.md has it
	command.Env = append(os.Environ(), "SEED="+seed)
	if out, err := command.Output(); err != nil || !strings.HasPrefix(string(out), hash+" ") {
		t.Errorf("sha256sum gives %s, %v; want %s", out, err, hash)
	}
	if err := (&round{"2030.1", hash, "2029-01-01", seed, "2030-01-01"}).check(); err != nil {
		t.Error(err)
	}
	for _, r := range []round{
		{"short", hash[1:], "2029-01-01", "", ""},
		{"capitals", "A" + hash[1:], "2029-01-01", "", ""},
		{"no date", hash, "soon", "", ""},
		{"another seed", hash, "2029-01-01", "1" + seed[1:], "2030-01-01"},
		{"opened before", hash, "2029-01-01", seed, "2028-01-01"},
		{"not opened", hash, "2029-01-01", seed, ""},
	} {
		if r.check() == nil {
			t.Errorf("%s: accepted", r.Suite)
		}
	}
}
