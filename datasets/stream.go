package datasets

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"strconv"

	"miglab/harness/mig"
	"miglab/harness/spec"
)

// streamKey returns the key of a random stream: the name of its data, for example
// "workload=drl/WIDETIMES", and the values of the parameters that affect them, in the order given.
// The key seeds the stream, so that a change of a single byte changes the data.
func streamKey(key string, a spec.Args, params ...string) string {
	for _, p := range params {
		key += "\n" + p + "=" + a[p]
	}
	return key
}

// pcg returns the random stream for a key, a seed, the sizes of a GPU and the index of an instance.
func pcg(key string, seed uint64, g *mig.GPU, index int) *rand.PCG {
	text := append(make([]byte, 0, len(key)+64), key...)
	text = strconv.AppendUint(append(text, "\nseed="...), seed, 10)
	text = append(text, "\nsizes="...)
	for _, size := range g.Sizes() {
		text = append(strconv.AppendInt(text, int64(size), 10), ',')
	}
	return Hashed(strconv.AppendInt(append(text, "\nindex="...), int64(index), 10))
}

// Hashed returns the random stream of a key.
func Hashed(key []byte) *rand.PCG {
	sum := sha256.Sum256(key)
	return rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:]))
}
