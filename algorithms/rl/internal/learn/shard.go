package learn

import (
	"math/rand/v2"

	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/nn"
)

// A Shard is a contiguous group of environments with its own policy. It is used by one goroutine at a time.
type Shard struct {
	Policy nn.Policy  // shares its parameters with all other shards
	Rand   *rand.Rand // for choosing actions
	// Begin and End are the range of its environments; End is not included.
	Begin, End int

	shape   env.Shape
	source  rand.PCG // of Rand
	members []member

	episodes     int     // that ended in this iteration
	sum, lengths float64 // the rewards and the lengths of these episodes
}

// A member is one environment of a shard, with its random stream and the sums of its present episode.
type member struct {
	env    env.Env
	source rand.PCG
	rng    *rand.Rand // on source
	sum    float64    // of the episode's rewards
	length int
}

func newShard(begin, end int, policy nn.Policy, makeEnv func() env.Env) *Shard {
	s := &Shard{Policy: policy, Begin: begin, End: end, members: make([]member, end-begin)}
	s.Rand = rand.New(&s.source)
	for i := range s.members {
		m := &s.members[i]
		m.env, m.rng = makeEnv(), rand.New(&m.source)
	}
	s.shape = s.members[0].env.Shape()
	return s
}

// restart begins an episode in every environment of shard k, with streams that depend only on
// the seed, the segment and the environment's number.
func (s *Shard) restart(seed, segment uint64, k int) {
	seedStream(&s.source, seed, segment, choosing, k)
	s.episodes, s.sum, s.lengths = 0, 0, 0
	for i := range s.members {
		m := &s.members[i]
		seedStream(&m.source, seed, segment, environments, s.Begin+i)
		m.sum, m.length = 0, 0
		m.env.Reset(m.rng)
	}
}

// Env returns one of the shard's environments, the first for 0.
func (s *Shard) Env(i int) env.Env { return s.members[i].env }

// Observe writes the observations and masks of all environments of the shard to rows from first on.
func (s *Shard) Observe(rows *env.Rows, first int) {
	for i := range s.members {
		s.members[i].env.Observe(rows.Observation(first+i), rows.Mask(first+i))
	}
}

// Step carries out one action in each environment of the shard. It begins a new episode in
// each environment that is done.
func (s *Shard) Step(actions []int32, rewards []float32, dones []bool) {
	for i := range s.members {
		m := &s.members[i]
		rewards[i], dones[i] = m.env.Step(int(actions[i]))
		m.sum += float64(rewards[i])
		m.length++
		if dones[i] {
			s.episodes++
			s.sum += m.sum
			s.lengths += float64(m.length)
			m.sum, m.length = 0, 0
			m.env.Reset(m.rng)
		}
	}
}

// The purposes of random streams.
const (
	environments = iota
	choosing     // actions, by shard
	learning     // the order or the choice of what is learned from
)

// seedStream sets a source to the beginning of the stream of one segment of training.
func seedStream(source *rand.PCG, seed, segment uint64, purpose, index int) {
	h := mix(mix(mix(seed)+segment)+uint64(purpose)) + uint64(index)
	source.Seed(mix(h), mix(^h))
}

// mix computes the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
