package mig

import (
	"encoding/csv"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

// h100Listing is the output of nvidia-smi mig -i 0 -lgip and -lgipp on an H100, after NVIDIA's user guide.
const h100Listing = `+-----------------------------------------------------------------------------+
| GPU instance profiles:                                                      |
| GPU   Name             ID    Instances   Memory     P2P    SM    DEC   ENC  |
|                              Free/Total   GiB              CE    JPEG  OFA  |
|=============================================================================|
|   0  MIG 1g.10gb       19     7/7        9.75       No     16     1     0   |
|                                                             1     1     0   |
+-----------------------------------------------------------------------------+
|   0  MIG 1g.10gb+me    20     1/1        9.75       No     16     1     0   |
|                                                             1     1     1   |
+-----------------------------------------------------------------------------+
|   0  MIG 1g.20gb       15     4/4        19.62      No     26     1     0   |
|                                                             1     1     0   |
+-----------------------------------------------------------------------------+
|   0  MIG 2g.20gb       14     0/3        19.62      No     32     2     0   |
|                                                             2     2     0   |
+-----------------------------------------------------------------------------+
|   0  MIG 3g.40gb        9     2/2        39.50      No     60     3     0   |
|                                                             3     3     0   |
+-----------------------------------------------------------------------------+
|   0  MIG 4g.40gb        5     1/1        39.50      No     64     4     0   |
|                                                             4     4     0   |
+-----------------------------------------------------------------------------+
|   0  MIG 7g.80gb        0     1/1        79.25      No     132    7     0   |
|                                                             8     7     1   |
+-----------------------------------------------------------------------------+
GPU  0 Profile ID 19 Placements: {0,1,2,3,4,5,6}:1
GPU  0 Profile ID 20 Placements: {0,1,2,3,4,5,6}:1
GPU  0 Profile ID 15 Placements: {0,2,4,6}:2
GPU  0 Profile ID 14 Placements: {0,2,4}:2
GPU  0 Profile ID  9 Placements: {0,4}:4
GPU  0 Profile ID  5 Placement : {0}:4
GPU  0 Profile ID  0 Placement : {0}:8
`

// sameProfiles compares a model with the table's in all that a listing has.
func sameProfiles(t *testing.T, g, table *GPU) {
	t.Helper()
	if g.ComputeSlices != table.ComputeSlices || g.MemorySlices != table.MemorySlices || g.DriverSlices != table.DriverSlices {
		t.Errorf("%s: %d compute slices, %d memory slices of %d", table, g.ComputeSlices, g.MemorySlices, g.DriverSlices)
	}
	for _, want := range table.AllProfiles() {
		p, err := g.ProfileByName(want.String())
		if err != nil {
			t.Errorf("%s: %v", table, err)
			continue
		}
		got := *p
		got.Create, got.Destroy = want.Create, want.Destroy
		if !reflect.DeepEqual(&got, want) {
			t.Errorf("%s: %+v, want %+v", table, got, *want)
		}
	}
}

// TestListings: the listings of GPUs, as they were published, give the models of the table.
func TestListings(t *testing.T) {
	g, err := parseListing([]byte(h100Listing), "dir/mine.txt")
	if err != nil || g.Name != "mine" {
		t.Fatalf("%v, %v", g, err)
	}
	sameProfiles(t, g, MustLookup("H100"))
	if known, err := new(Catalog).Add(g); err != nil || len(known.Partitions()) != 19 {
		t.Errorf("%v", err)
	}
	file, err := os.Open("../../profiling/nvml/nvmltest/testdata/listings.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][2]string{}
	for _, r := range rows {
		if r[6] == "" { // without placements
			continue
		}
		text := texts[r[0]]
		text[0] += fmt.Sprintf("|   0  MIG %s   %s     %s/%s        9.75       No     %s    1     0   |\n", r[2], r[3], r[7], r[7], r[9])
		text[1] += fmt.Sprintf("GPU  0 Profile ID %2s Placements: {%s}:%s\n", r[3], strings.ReplaceAll(r[6], " ", ","), r[5])
		texts[r[0]] = text
	}
	compared := 0
	for _, table := range GPUs() {
		text, ok := texts[strings.ReplaceAll(table.Name, "-", "")]
		if !ok || table.Assumed != "" {
			continue
		}
		g, err := parseListing([]byte(text[0]+text[1]), table.Name+"-listed.txt")
		if err != nil || g.check() != nil {
			t.Errorf("%s: %v, %v", table, err, g.check())
			continue
		}
		sameProfiles(t, g, table)
		compared++
	}
	if compared < 4 {
		t.Errorf("only %d models have listings", compared)
	}
}

// TestListingOfOtherEngines: schedulers use the profile of a size with most instances, also one without media engines, and
// only as many starts as it has instances, as on the RTX PRO 5000.
func TestListingOfOtherEngines(t *testing.T) {
	g, err := parseListing([]byte(`
|   0  MIG 1g.12gb         14     1/1        11.50      No     26     1     0   |
|   0  MIG 1g.12gb-me      67     3/3        11.50      No     26     0     0   |
|   0  MIG 2g.24gb-me      66     1/1        23.25      No     54     0     0   |
|   0  MIG 4g.48gb          0     1/1        46.75      No     110    4     4   |
GPU  0 Profile ID 14 Placements: {0,3,6,9}:3
GPU  0 Profile ID 67 Placements: {0,3,6,9}:3
GPU  0 Profile ID 66 Placements: {0,6}:6
GPU  0 Profile ID  0 Placement : {0}:12
`), "rtx.txt")
	if err == nil {
		g, err = new(Catalog).Add(g)
	}
	if err != nil {
		t.Fatal(err)
	}
	one, two := g.Profile(1), g.Profile(2)
	if one.String() != "1g.12gb-me" || len(one.Starts) != 3 || two.String() != "2g.24gb-me" || len(two.Starts) != 1 || g.DriverSlices != 3 {
		t.Errorf("%v at %v, %v at %v, %d slices of the driver", one, one.Starts, two, two.Starts, g.DriverSlices)
	}
}

func TestBrokenListings(t *testing.T) {
	for text, want := range map[string]string{
		"": "f.txt has no profiles; write into it what nvidia-smi mig -i 0 -lgip prints",
		h100Listing + strings.ReplaceAll(h100Listing, "|   0", "|   1"):  "f.txt:39: GPU 1 comes after GPU 0; list one GPU, with nvidia-smi mig -i 0",
		h100Listing[:strings.Index(h100Listing, "GPU  0 Profile ID  9")]: "profile 3g.40gb of f has no placements",
		h100Listing[strings.Index(h100Listing, "GPU  0 Profile ID 19"):]: "f.txt:1: profile 19 has placements but is not in the table of -lgip above",
	} {
		if _, err := parseListing([]byte(text), "f.txt"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

func FuzzListing(f *testing.F) {
	f.Add(h100Listing)
	f.Fuzz(func(t *testing.T, text string) {
		g, err := parseListing([]byte(text), "f.txt")
		if err == nil && g.check() == nil {
			g.derive()
		}
	})
}
