package task

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/nearest"
)

// A Gang has the instances of a request that needs several at once, or a single one with media extensions. They are
// placed together or not at all, and leave together.
type Gang struct {
	Members []Member // the instances, in the order of [Request.SetGang]
	OneGPU  bool     // all members must be on the same GPU
}

// A Member is one of the instances that a request needs.
type Member struct {
	Profile *mig.Profile // the profile without "+me"
	Media   bool         // the instance has the media extensions, of which a GPU has one: its profile is "+me"
}

// String returns NVIDIA's name of the profile.
func (m Member) String() string {
	if m.Media {
		return m.Profile.String() + "+me"
	}
	return m.Profile.String()
}

// String returns the names of the profiles, joined by +.
func (g *Gang) String() string { return strings.Join(nearest.Names(g.Members, Member.String), "+") }

// Where returns the word of requests files for the GPUs of the members: gpu for the same one, or any.
func (g *Gang) Where() string {
	if g.OneGPU {
		return oneGPU
	}
	return anyGPU
}

// Equal reports whether two gangs have the same members and the same OneGPU; both may be nil.
func (g *Gang) Equal(o *Gang) bool {
	return g == o || g != nil && o != nil && g.OneGPU == o.OneGPU && slices.Equal(g.Members, o.Members)
}

// Media returns the number of members with media extensions.
func (g *Gang) Media() (n int) {
	for _, m := range g.Members {
		if m.Media {
			n++
		}
	}
	return n
}

// The words for the GPUs of a gang.
const (
	oneGPU = "gpu"
	anyGPU = "any"
)

// MaxMembers is the largest number of members of a gang.
const MaxMembers = 1024

// SetGang sets the instances of a request, at least one. It sorts them: more memory slices first, then more compute
// slices, then media extensions. One member without media extensions becomes the profile of the request; Gang is nil.
func (q *Request) SetGang(members []Member, oneGPU bool) {
	members = slices.Clone(members)
	slices.SortFunc(members, func(a, b Member) int {
		return cmp.Or(int(b.Profile.Length-a.Profile.Length), int(b.Profile.Size-a.Profile.Size),
			cmp.Compare(b.String(), a.String()))
	})
	q.Profile, q.Gang = members[0].Profile, nil
	if len(members) > 1 || members[0].Media {
		q.Gang = &Gang{Members: members, OneGPU: oneGPU && len(members) > 1}
	}
}

// Member returns instance k of those that the request needs.
func (q *Request) Member(k int) Member {
	if q.Gang != nil {
		return q.Gang.Members[k]
	}
	return Member{Profile: q.Profile}
}

// FitsBeside reports whether a GPU with some occupied slices has room for all members. starts returns where the GPU may
// have a profile. It does not look at media extensions.
func FitsBeside(members []Member, occupied mig.Mask, starts func(*mig.Profile) []mig.Slices) bool {
	if len(members) == 0 {
		return true
	}
	for _, start := range starts(members[0].Profile) {
		at := mig.Instance{Profile: members[0].Profile, Start: start}.Mask()
		if at&occupied == 0 && FitsBeside(members[1:], occupied|at, starts) {
			return true
		}
	}
	return false
}

// check returns an error if no cluster can hold the gang. The text continues a sentence that begins with the request.
func (g *Gang) check(gpu *mig.GPU) error {
	if len(g.Members) == 0 || len(g.Members) > MaxMembers {
		return fmt.Errorf("asks for %d instances; ask for 1 to %d", len(g.Members), MaxMembers)
	}
	allStarts := func(p *mig.Profile) []mig.Slices { return p.Starts }
	known := func(m Member) bool { return !m.Profile.MediaExtensions && slices.Contains(gpu.Profiles, m.Profile) }
	switch {
	case slices.ContainsFunc(g.Members, func(m Member) bool { return !known(m) }):
		return fmt.Errorf("asks for %v; %v does not have all of them", g, gpu)
	case !g.OneGPU:
	case g.Media() > 1:
		return fmt.Errorf("asks for %v on one GPU, which has the media extensions once", g)
	case len(g.Members) > int(gpu.MemorySlices) || !FitsBeside(g.Members, 0, allStarts):
		return fmt.Errorf("asks for %v on one GPU; they do not fit beside each other", g)
	}
	return nil
}

// requestable returns the members that a request may have: each of [RequestProfiles], and again with media extensions
// if the model has that profile.
func requestable(g *mig.GPU) (out []Member) {
	for _, p := range RequestProfiles(g) {
		out = append(out, Member{Profile: p})
	}
	for _, me := range g.AllProfiles() {
		i := slices.IndexFunc(out, func(m Member) bool { return m.Profile.String()+"+me" == me.String() })
		if i >= 0 && slices.Equal(out[i].Profile.Starts, me.Starts) {
			out = append(out, Member{Profile: out[i].Profile, Media: true})
		}
	}
	return out
}

// ParseMembers reads the names of profiles joined by +. The name of a profile begins with a digit; a + before anything
// else is part of a name, as in 1g.10gb+me.
func ParseMembers(g *mig.GPU, text string) (out []Member, err error) {
	var names []string
	for i, part := range strings.Split(text, "+") {
		if i > 0 && (part == "" || part[0] < '0' || part[0] > '9') {
			names[len(names)-1] += "+" + part
		} else {
			names = append(names, part)
		}
	}
	all := requestable(g)
	for _, name := range names {
		m, err := nearest.Find("profile of "+g.Name, name, all, Member.String)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}
