package datasets

import (
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/strictcsv"
)

// ReadHardware reads a folder of files named NAME.kernels.csv, NAME.reconfiguration.csv, NAME.isolation.csv,
// NAME.execution.csv and NAME.overlap.csv. The folder may also have a README.md, and NAME.gpu.json for a GPU
// model that is not in the program's table. A file has all columns of its kind of row in their order, and the rows of
// one GPU, driver and source; datasets/hardware/README.md describes the columns. Errors name the file and the line,
// and say how to correct it.
func ReadHardware(dir fs.FS) (HardwareSet, error) {
	r := hardwareReader{dir: dir, models: new(mig.Catalog)}
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return HardwareSet{}, err
	}
	isModel := func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), modelSuffix) }
	for _, e := range entries {
		if isModel(e) {
			text, err := fs.ReadFile(dir, e.Name())
			if err == nil {
				_, err = r.models.Parse(text, e.Name())
			}
			if err != nil {
				return HardwareSet{}, err
			}
		}
	}
	for _, e := range entries {
		if e.Name() != "README.md" && !isModel(e) {
			if err := r.addFile(e.Name()); err != nil {
				return HardwareSet{}, err
			}
		}
	}
	return r.set, nil
}

// modelSuffix is the end of the names of files with a GPU model.
const modelSuffix = ".gpu.json"

// hardwareName matches the names of tables: a name and a kind.
var hardwareName = regexp.MustCompile(`^([A-Za-z0-9_-]+)\.(.+)\.csv$`)

// A hardwareReader adds the files of a folder to a set.
type hardwareReader struct {
	dir    fs.FS
	models *mig.Catalog
	set    HardwareSet
}

// addFile reads a file with a table.
func (r *hardwareReader) addFile(file string) error {
	m := hardwareName.FindStringSubmatch(file)
	if m == nil {
		return fmt.Errorf("%s: files are named NAME.KIND.csv, with letters, digits, - and _ in NAME", file)
	}
	kind := m[2]
	switch kind {
	case "kernels":
		return addTable(r, &r.set.Kernels, file, checkKernels, mig.SourceMIG)
	case "reconfiguration":
		return addTable(r, &r.set.Reconfiguration, file, checkReconfiguration, mig.SourceMIG)
	case "isolation":
		return addTable(r, &r.set.Isolation, file, checkIsolation, mig.SourceMIG)
	case "execution":
		return addTable(r, &r.set.Execution, file, checkExecution, mig.SourceMIG)
	case "overlap":
		return addTable(r, &r.set.Overlap, file, checkOverlap, mig.SourceMIG, mig.SourcePartition)
	}
	kinds := []string{"kernels", "reconfiguration", "isolation", "execution", "overlap"}
	return fmt.Errorf("%s: %w", file, nearest.Unknown("kind of table", kind, kinds))
}

// addTable reads a file whose rows have one of the sources. It inserts the table by date, after the tables of the same
// day.
func addTable[Row HardwareRow](r *hardwareReader, to *[]HardwareTable[Row], file string,
	check func(*mig.GPU, []Row) (int, error), sources ...string,
) error {
	f, err := r.dir.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	columns := strictcsv.Columns[Row]()
	empty := fmt.Sprintf("there are no rows; write at least one below the header %q", strings.Join(columns, ","))
	t, err := strictcsv.Read[Row](f, file, empty, mayBeEmpty)
	if err != nil {
		return err
	}
	if i, err := checkTable(r.models, t.Rows, check, sources); err != nil {
		return t.Fail(i, "", err)
	}
	from := t.Rows[0].provenance()
	if from.Stub() {
		r.set.Stub = file
	}
	name, _, _ := strings.Cut(file, ".")
	*to = append(*to, HardwareTable[Row]{File: name, Provenance: from, Rows: t.Rows})
	slices.SortStableFunc(*to, func(a, b HardwareTable[Row]) int { return cmp.Compare(a.Date, b.Date) })
	return nil
}

// checkTable returns the index of the first wrong row and an error that describes it.
func checkTable[Row HardwareRow](models *mig.Catalog, rows []Row, check func(*mig.GPU, []Row) (int, error),
	sources []string,
) (int, error) {
	if i, err := checkProvenance(models, rows, sources); err != nil {
		return i, err
	}
	g, _ := models.Lookup(rows[0].provenance().GPU) // nil for a board without MIG
	if i, err := check(g, rows); err != nil {
		return i, err
	}
	for i, r := range rows {
		if l, ok := any(r).(interface{ checkLoad() error }); ok {
			if err := l.checkLoad(); err != nil {
				return i, err
			}
		}
	}
	return 0, nil
}

// A HardwareRow is a row of a file of [ReadHardware]. A type implements it by embedding a [Provenance].
type HardwareRow interface{ provenance() Provenance }

func (p Provenance) provenance() Provenance { return p }

// mayBeEmpty is the only column that may be empty: a kernel can run alone.
const mayBeEmpty = "beside"

// boardLabel matches the names of GPUs that are measured without MIG and are not a known model: the
// board's name and its number of multiprocessors.
var boardLabel = regexp.MustCompile(`^[A-Za-z0-9-]+-[1-9][0-9]*SM$`)

// checkProvenance returns the index of the first row whose provenance is wrong or differs from the first row's, and an
// error with the reason.
func checkProvenance[Row HardwareRow](models *mig.Catalog, rows []Row, sources []string) (int, error) {
	first := rows[0].provenance()
	for i, r := range rows {
		p := r.provenance()
		switch g, err := models.Lookup(p.GPU); {
		case err != nil && !(boardLabel.MatchString(p.GPU) && p.Source == mig.SourcePartition):
			return i, err
		case err == nil && p.GPU != g.Name:
			return i, fmt.Errorf("gpu is %q; write %s", p.GPU, g)
		}
		if !slices.Contains(sources, p.Source) {
			return i, nearest.Unknown("source", p.Source, sources)
		}
		if _, err := time.Parse(time.DateOnly, p.Date); err != nil {
			return i, fmt.Errorf("date is %q; it must be a day such as 2026-11-21", p.Date)
		}
		first.Date = p.Date
		if p != first {
			return i,
				fmt.Errorf("the row is of %s (%s, driver %s, %s), the file's first of %s (%s, driver %s, %s); another "+
					"GPU, driver or source needs a file of its own",
					p.GPU, p.Name, p.Driver, p.Source, first.GPU, first.Name, first.Driver, first.Source)
		}
	}
	return 0, nil
}

func checkKernels(g *mig.GPU, rows []KernelTime) (int, error) {
	for i, r := range rows {
		if r.Runs < 1 && !math.IsInf(float64(r.Mean), 1) {
			return i, fmt.Errorf("%d runs took %v s on average; there must be at least 1", r.Runs, r.Mean)
		}
	}
	return checkMeasurements(g, measurements(rows))
}

func checkReconfiguration(g *mig.GPU, rows []ReconfigurationTime) (int, error) {
	type key struct {
		partition string
		Operation
		threads int
	}
	seen := map[key]bool{}
	for i, r := range rows {
		k := key{r.Partition, Operation{r.Operation, r.Size}, r.Threads}
		parts := strings.Split(r.Partition, "-")
		switch {
		case g.Profile(r.Size) == nil:
			return i, sizeError(g, r.Size)
		case !slices.Contains(parts, strconv.Itoa(int(r.Size))):
			return i,
				fmt.Errorf("the partition %q has no instance of size %d; write the sizes of a round, for example 2-2-1",
					r.Partition, r.Size)
		case r.Operation != "create" && r.Operation != "destroy":
			return i, nearest.Unknown("operation", r.Operation, []string{"create", "destroy"})
		case r.Threads < 1 || r.Threads > len(parts):
			return i, fmt.Errorf("%d threads; a round of %s has work for 1 to %d", r.Threads, r.Partition, len(parts))
		case seen[k]:
			return i, fmt.Errorf("%s of size %d in %s by %d threads is there twice", r.Operation, r.Size,
				r.Partition, r.Threads)
		case r.Runs < 1:
			return i, fmt.Errorf("%d runs; there must be at least 1", r.Runs)
		case !positive(r.Mean, r.Min, r.Max, r.Total):
			return i, fmt.Errorf("mean %v s, from %v s to %v s, total %v s; all must be positive and finite",
				r.Mean, r.Min, r.Max, r.Total)
		case !(r.StdDev >= 0) || math.IsInf(float64(r.StdDev), 1):
			return i, fmt.Errorf("the standard deviation is %v s; it must be a number from 0", r.StdDev)
		case r.Min > r.Max || r.Mean < r.Min*(1-rounding) || r.Mean > r.Max*(1+rounding):
			return i, fmt.Errorf("the mean %v s does not lie between %v s and %v s", r.Mean, r.Min, r.Max)
		}
		seen[k] = true
	}
	return 0, nil
}

func checkIsolation(g *mig.GPU, rows []IsolationTime) (int, error) {
	type key struct {
		KernelOn
		beside string
	}
	medians := map[key]mig.Seconds{}
	for i, r := range rows {
		k := key{KernelOn{r.Kernel, r.Size}, r.Beside}
		_, twice := medians[k]
		switch {
		case g.Profile(r.Size) == nil:
			return i, sizeError(g, r.Size)
		case twice:
			return i, fmt.Errorf("%s on size %d beside %q is there twice", r.Kernel, r.Size, r.Beside)
		case r.Runs < 1:
			return i, fmt.Errorf("%d runs; there must be at least 1", r.Runs)
		case r.Timed != TimedWindow && r.Timed != TimedProcess:
			return i, nearest.Unknown("kind of time", r.Timed, []string{TimedWindow, TimedProcess})
		case r.Timed != rows[0].Timed:
			return i,
				fmt.Errorf("the time is that of a %s, in the file's first row that of a %s; they cannot be compared",
					r.Timed, rows[0].Timed)
		case !positive(r.Median):
			return i, fmt.Errorf("the median is %v s; it must be positive and finite", r.Median)
		}
		if err := checkBeside(g, r.Beside); err != nil {
			return i, err
		}
		medians[k] = r.Median
	}
	for i, r := range rows {
		alone, ok := medians[key{KernelOn: KernelOn{r.Kernel, r.Size}}]
		if !ok {
			return i, fmt.Errorf("%s on size %d has no row alone, with nothing in column %s", r.Kernel, r.Size,
				mayBeEmpty)
		}
		want := excess(r.Median, alone)
		if !agree(r.Difference, want) {
			return i, fmt.Errorf("the difference is %v %%; %v s over the %v s alone makes %.4g %%",
				r.Difference, r.Median, alone, want)
		}
	}
	return 0, nil
}

// checkBeside returns an error unless beside lists kernels on disjoint instances: name:size@start.
func checkBeside(g *mig.GPU, beside string) error {
	var taken mig.Mask
	for _, one := range strings.Fields(beside) {
		colon := strings.LastIndex(one, ":")
		size, start, ok := strings.Cut(one[colon+1:], "@")
		s, errSize := strconv.Atoi(size)
		at, errStart := strconv.Atoi(start)
		if colon < 1 || !ok || errSize != nil || errStart != nil {
			return fmt.Errorf("%s: %q is not a kernel on an instance; write name:size@start, for example CFD:1@0",
				mayBeEmpty, one)
		}
		in, err := g.Instance(mig.Slices(s), mig.Slices(at))
		if err != nil {
			return fmt.Errorf("%s: %q: %w", mayBeEmpty, one, err)
		}
		if taken&in.Mask() != 0 {
			return fmt.Errorf("%s: %q overlaps an instance before it", mayBeEmpty, one)
		}
		taken |= in.Mask()
	}
	return nil
}

func checkExecution(g *mig.GPU, rows []ExecutionTime) (int, error) {
	seen := map[string]bool{}
	for i, r := range rows {
		switch {
		case r.Algorithm != rows[0].Algorithm:
			return i, fmt.Errorf("the schedule is that of %s, the file's first of %s; another needs a file of its own",
				r.Algorithm, rows[0].Algorithm)
		case seen[r.Task]:
			return i, fmt.Errorf("task %s is there twice", r.Task)
		case r.Device < 0:
			return i, fmt.Errorf("device %d; they count from 0", r.Device)
		case !follows(r.SimulatedStart, r.SimulatedEnd):
			return i, fmt.Errorf("simulated from %v s to %v s; it must start at 0 or later, and end after that",
				r.SimulatedStart, r.SimulatedEnd)
		case !follows(r.RealStart, r.RealEnd):
			return i, fmt.Errorf("for real from %v s to %v s; it must start at 0 or later, and end after that",
				r.RealStart, r.RealEnd)
		}
		if _, err := g.Instance(r.Size, r.Slice); err != nil {
			return i, err
		}
		want := -excess(r.SimulatedEnd, r.RealEnd)
		if !agree(r.Deviation, want) {
			return i, fmt.Errorf("the deviation is %v %%; %v s against the simulated %v s make %.4g %% of the former",
				r.Deviation, r.RealEnd, r.SimulatedEnd, want)
		}
		seen[r.Task] = true
	}
	return 0, nil
}

// sizeError returns the error for a size that the model lacks.
func sizeError(g *mig.GPU, s mig.Slices) error {
	return fmt.Errorf("%s has no instances of size %d; it has the sizes %v", g, s, g.Sizes())
}

// positive reports whether all times are positive and finite.
func positive(times ...mig.Seconds) bool {
	return !slices.ContainsFunc(times, func(t mig.Seconds) bool { return !(t > 0) || math.IsInf(float64(t), 1) })
}

// follows reports whether start is at least 0 and end is finite and later.
func follows(start, end mig.Seconds) bool { return start >= 0 && end > start && positive(end) }

// rounding is the relative amount by which a mean of equal times may differ from them.
const rounding = 1e-9

// excess returns by how many percent a time exceeds another.
func excess(t, over mig.Seconds) float64 { return float64((float64(t/over) - 1) * 100) }

// agree reports whether percentages are the same to the two decimals that the papers print.
func agree(a, b float64) bool { return math.Abs(a-b) <= 0.005 }
