package datasets

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/task"
)

// maxCount bounds the tasks of a batch and the batches of a stream.
const maxCount = 1_000_000

// synthetic is a workload with its parameters. It describes an endless sequence
// of batches; instance i is the batches i to i+batches-1, so that consecutive
// instances overlap: 1001 batches make the 1000 concatenations of FAR 6.7.1.
//
// With a total, instance i is that many tasks cut in batches of n, the last of which
// may have fewer (DRL 5.1.3). The tasks are those of n=total: how they are cut
// changes none. A part is one of these batches by itself.
type synthetic struct {
	*workload
	n         int
	psup      int
	generator *generator
	leave     float64
	seed      uint64
	batches   int
	// total is 0 where the tasks are not cut, and part where no single batch is meant.
	total, part int
}

func parseSynthetic(w *workload, pairs []string) (Spec, error) {
	s := synthetic{workload: w, n: w.tasks, psup: w.memoryBound, generator: generators[0], seed: 1, batches: 1}
	const ofGenerator = -1
	s.leave = ofGenerator
	err := setParameters(pairs, []parameter{
		count("n", &s.n, 1, maxCount),
		count("psup", &s.psup, 0, 100),
		{"gen", s.setGenerator},
		probability("leave", &s.leave),
		seed(&s.seed),
		count("batches", &s.batches, 1, maxCount),
		count("total", &s.total, 1, maxCount),
		count("part", &s.part, 1, maxCount),
	})
	if err == nil {
		err = s.checkCut()
	}
	if err != nil {
		return nil, err
	}
	if s.leave == ofGenerator {
		s.leave = s.generator.leave
	}
	return s, nil
}

// checkCut returns an error about parameters that do not go together.
func (s *synthetic) checkCut() error {
	switch {
	case s.total == 0 && s.part != 0:
		return &ParameterError{"part", strconv.Itoa(s.part), "a part only with total"}
	case s.total == 0:
		return nil
	case s.batches != 1:
		return &ParameterError{"batches", strconv.Itoa(s.batches), "either batches or total"}
	}
	return checkPart(s.part, len(cut(s.total, s.n)))
}

// checkPart returns an error where there are fewer parts; part 0 means all.
func checkPart(part, parts int) error {
	if part > parts {
		return &ParameterError{"part", strconv.Itoa(part), fmt.Sprintf("a whole number from 1 to %d", parts)}
	}
	return nil
}

// cut returns the lengths of batches of n that tasks come to, the last being what
// is left.
func cut(tasks, n int) []int {
	lengths := slices.Repeat([]int{n}, tasks/n)
	if rest := tasks % n; rest > 0 {
		lengths = append(lengths, rest)
	}
	return lengths
}

// cutOf returns tasks cut in batches of n, or one of them by itself.
func cutOf(b task.Batch, n, part int) task.Batches {
	if part > 0 {
		return task.OneBatch(b[(part-1)*n : min(part*n, len(b))])
	}
	return task.Batches{Tasks: b, Lengths: cut(len(b), n)}
}

func (s *synthetic) setGenerator(name string) error {
	var known []string
	for _, v := range generators {
		if v.name == name {
			s.generator = v
			return nil
		}
		known = append(known, v.name)
	}
	return nearest.Unknown("generator", name, known)
}

func (s synthetic) ID() string {
	var p []string
	add := func(name, value string, differs bool) {
		if differs {
			p = append(p, name+"="+value)
		}
	}
	add("n", strconv.Itoa(s.n), s.n != s.tasks)
	add("psup", strconv.Itoa(s.psup), s.psup != s.memoryBound)
	add("gen", s.generator.name, s.generator != generators[0])
	add("leave", formatFloat(s.leave), s.leave != s.generator.leave)
	add("seed", strconv.FormatUint(s.seed, 10), s.seed != 1)
	add("batches", strconv.Itoa(s.batches), s.batches != 1)
	add("total", strconv.Itoa(s.total), s.total != 0)
	add("part", strconv.Itoa(s.part), s.part != 0)
	return canonical(s.name, p)
}

func formatFloat(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func (s synthetic) Instances() int { return 0 }

func (s synthetic) Instance(g *mig.GPU, index int) (task.Payload, error) {
	if err := checkIndex(s, index); err != nil {
		return nil, err
	}
	n := s.drawn()
	drawn := make([]times, n)
	out := task.Batches{Tasks: make(task.Batch, n*s.batches), Lengths: make([]int, s.batches)}
	for i := range s.batches {
		if err := fill(&s, rand.New(s.stream(g, index+i)), g, drawn); err != nil {
			return nil, err
		}
		batch := out.Tasks[i*n : (i+1)*n]
		for k := range batch {
			for _, size := range g.Sizes() {
				batch[k].Set(size, mig.Seconds(drawn[k][size]))
			}
		}
		prefix := ""
		if s.batches > 1 {
			// The number is that of the batch, so that it has the same in every stream.
			prefix = fmt.Sprintf("b%04d-", index+i+1)
		}
		setNames(batch, prefix)
		out.Lengths[i] = n
	}
	if s.total != 0 {
		return cutOf(out.Tasks, s.n, s.part), nil
	}
	return out, nil
}

// drawn returns how many tasks are drawn together.
func (s *synthetic) drawn() int {
	if s.total != 0 {
		return s.total
	}
	return s.n
}

// stream returns the random stream of a batch. Its seed is the hash of all that
// names the batch; the number of batches in an instance is no part of that.
func (s *synthetic) stream(g *mig.GPU, index int) *rand.PCG {
	key := make([]byte, 0, 256)
	key = append(append(key, "workload="...), s.name...)
	key = strconv.AppendInt(append(key, "\nn="...), int64(s.drawn()), 10)
	key = strconv.AppendInt(append(key, "\npsup="...), int64(s.psup), 10)
	key = append(append(key, "\ngen="...), s.generator.name...)
	key = strconv.AppendFloat(append(key, "\nleave="...), s.leave, 'g', -1, 64)
	return pcg(key, s.seed, g, index)
}

// pcg returns the random stream of what a key, a seed, the sizes of a GPU and an
// index name together.
func pcg(key []byte, seed uint64, g *mig.GPU, index int) *rand.PCG {
	key = strconv.AppendUint(append(key, "\nseed="...), seed, 10)
	key = append(key, "\nsizes="...)
	for _, size := range g.Sizes() {
		key = append(strconv.AppendInt(key, int64(size), 10), ',')
	}
	return hashed(strconv.AppendInt(append(key, "\nindex="...), int64(index), 10))
}

// hashed returns the random stream of a key.
func hashed(key []byte) *rand.PCG {
	sum := sha256.Sum256(key)
	return rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:]))
}

// setNames calls the tasks t01, t02, ... in order of arrival, after the prefix.
// The names share one string: a batch costs one allocation.
func setNames(batch task.Batch, prefix string) {
	digits := max(2, len(strconv.Itoa(len(batch))))
	length := len(prefix) + 1 + digits
	text := make([]byte, 0, length*len(batch))
	number := make([]byte, 0, 8)
	for i := range batch {
		text = append(append(text, prefix...), 't')
		number = strconv.AppendInt(number[:0], int64(i)+1, 10)
		text = append(text, "0000000"[:digits-len(number)]...)
		text = append(text, number...)
	}
	all := string(text)
	for i := range batch {
		batch[i].Name = all[i*length : (i+1)*length]
	}
}
