package certificate

import (
	"encoding/json"
	"fmt"
	"io"

	"miglab/harness/mig"
	"miglab/harness/strictjson"
	"miglab/harness/task"
)

// An Acceptance claims that no scheduler accepts more than AtMost of a number of requests on GPUs that are empty at
// first. The instants prove it ([AcceptedAtMost]).
type Acceptance struct {
	GPUs     int       `json:"gpus"`
	Requests int       `json:"requests"`
	AtMost   int       `json:"accepted_at_most"`
	Instants []Instant `json:"instants"`
}

// NewAcceptance returns the certificate with the bound that the instants prove, and any error of [AcceptedAtMost].
func NewAcceptance(g *mig.GPU, gpus int, requests []task.Request, instants []Instant) (Acceptance, error) {
	most, err := AcceptedAtMost(g, gpus, requests, instants)
	own := append([]Instant{}, instants...)
	return Acceptance{GPUs: gpus, Requests: len(requests), AtMost: most, Instants: own}, err
}

// EncodeAcceptance writes a certificate as a line of JSON. It returns any error of w.
func EncodeAcceptance(w io.Writer, c Acceptance) error { return json.NewEncoder(w).Encode(c) }

// DecodeAcceptance reads the format of [EncodeAcceptance]. It is strict: a field that is unknown, missing, duplicate or
// of the wrong type, and text after the end, are a [*strictjson.Error]. It also returns any error of r. It does not
// check whether the claim is true; see [VerifyAcceptance].
func DecodeAcceptance(r io.Reader) (Acceptance, error) {
	var c Acceptance
	if _, err := strictjson.Read(r, "certificate", &c); err != nil {
		return Acceptance{}, err
	}
	return c, nil
}

// VerifyAcceptance checks every claim of a certificate for requests on a number of GPUs; the error says which claim is
// false. If it returns nil, no scheduler accepts more than AtMost of the requests.
func VerifyAcceptance(g *mig.GPU, gpus int, requests []task.Request, c Acceptance) error {
	if c.GPUs != gpus || c.Requests != len(requests) {
		return fmt.Errorf("it is for %d requests on %d GPUs; there are %d on %d", c.Requests, c.GPUs,
			len(requests), gpus)
	}
	most, err := AcceptedAtMost(g, gpus, requests, c.Instants)
	if err != nil {
		return err
	}
	if c.AtMost < most {
		return fmt.Errorf("accepted_at_most is %d; the instants prove %d only", c.AtMost, most)
	}
	return nil
}
