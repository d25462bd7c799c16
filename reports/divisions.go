package reports

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Divisions draws how MIG and MPS divide GPUs among jobs (hierarchical paper Fig. 2), with a
// row for each GPU. The upper strip shows the multiprocessors of each job, the lower one the
// memory. Jobs and the memory that they share have the same colour. Unused parts are hatched.
type Divisions struct {
	Title string
	Rows  []Division
}

// A Division is one GPU.
type Division struct {
	Label   string
	Domains []Domain
}

// A Domain is a part of the memory with the compute instances that share it: a GPU instance,
// or the whole GPU.
type Domain struct {
	// Memory is the share of the GPU's memory, above 0.
	Memory    float64
	Instances []ComputeInstance
}

// A ComputeInstance is a part of the multiprocessors.
type ComputeInstance struct {
	// MIG says that MIG made the instance, which is then drawn with a frame.
	MIG bool
	// Compute is the share of the GPU's multiprocessors, above 0.
	Compute float64
	// Clients are the shares of the instance that MPS gives to its jobs, each above 0; nil
	// if one job has the whole instance.
	Clients []float64
}

const (
	divisionWidth   vg.Length = 400
	divisionLabel   vg.Length = 14
	divisionCompute vg.Length = 24
	divisionMemory  vg.Length = 15
	divisionGap     vg.Length = 11
)

// divisionSlack is by how much the sum of shares may exceed 1, because of rounding.
const divisionSlack = 1e-9

func (f Divisions) page() (page, error) {
	if len(f.Rows) == 0 {
		return page{}, refuse(f.Title, "", "it has no rows")
	}
	sty := sans(textSize)
	names := []string{"compute", "memory"}
	left := widest(sty, names) + 8
	width := left + divisionWidth
	instances, idle := false, false
	for _, r := range f.Rows {
		width = max(width, left+sty.Width(r.Label))
		boxes, err := r.boxes(f.Title)
		if err != nil {
			return page{}, err
		}
		for _, b := range boxes {
			instances = instances || b.frame
			idle = idle || b.idle
		}
	}
	l := legend{swatch("job, its memory in the same colour", taskColour(0))}
	if instances {
		l = append(l, legendEntry{"compute instance of MIG", func(c draw.Canvas) {
			c.SetLineStyle(divisionFrame)
			c.Stroke(c.Rectangle.Path())
		}})
	}
	if idle {
		l = append(l, idleEntry("used by nobody"))
	}
	const row = divisionLabel + divisionCompute + divisionMemory + divisionGap
	return framed(f.Title, width, vg.Length(len(f.Rows))*row, l, func(c draw.Canvas) []vg.Rectangle {
		from, top := c.Min.X+left, c.Max.Y
		for _, r := range f.Rows {
			write(c, bold(textSize), draw.XLeft, vg.Point{X: from, Y: top - divisionLabel/2}, r.Label)
			y := []vg.Length{top - divisionLabel, top - divisionLabel - divisionCompute, top - divisionLabel - divisionCompute - divisionMemory}
			for i, name := range names {
				write(c, sty, draw.XRight, vg.Point{X: from - 8, Y: (y[i] + y[i+1]) / 2}, name)
			}
			boxes, _ := r.boxes(f.Title) // page has checked the error
			for _, b := range boxes {
				b.draw(c, from, y[b.strip]-1, y[b.strip+1]+1)
			}
			top -= row
		}
		return []vg.Rectangle{rect(from, top+divisionGap, from+divisionWidth, c.Max.Y)}
	}), nil
}

// divisionFrame is the outline of a compute instance.
var divisionFrame = solid(ink, 1.8)

// divisionBox is a rectangle of a row.
type divisionBox struct {
	// strip is 0 for the multiprocessors and 1 for the memory.
	strip int
	// from and to are shares of the width.
	from, to float64
	// domain gives the colour.
	domain int
	label  string
	// idle boxes are hatched; frame is an outline without filling.
	idle, frame bool
}

func (b *divisionBox) draw(c draw.Canvas, left, top, bottom vg.Length) {
	r := rect(left+vg.Length(b.from)*divisionWidth, bottom, left+vg.Length(b.to)*divisionWidth, top)
	switch {
	case b.frame:
		c.SetLineStyle(divisionFrame)
		c.Stroke(r.Path())
		return
	case b.idle:
		hatch(c, r)
		return
	}
	box(c, r, taskColour(b.domain), solid(ink, 0.5))
	label(c, r, b.label)
}

// boxes returns what is drawn, frames last.
func (d *Division) boxes(figure string) (out []divisionBox, err error) {
	bad := func(format string, args ...any) ([]divisionBox, error) {
		return nil, refuse(figure, fmt.Sprintf("row %q", d.Label), format, args...)
	}
	var frames []divisionBox
	compute, memory := 0.0, 0.0
	for i, domain := range d.Domains {
		out = append(out, divisionBox{strip: 1, from: memory, to: memory + domain.Memory, domain: i, label: percentOf(domain.Memory)})
		memory += domain.Memory
		if len(domain.Instances) == 0 {
			return bad("domain %d has no compute instances", i+1)
		}
		for _, in := range domain.Instances {
			clients := in.Clients
			if len(clients) == 0 {
				clients = []float64{1}
			}
			used := 0.0
			for _, share := range clients {
				at := compute + float64(used*in.Compute)
				out = append(out, divisionBox{from: at, to: at + float64(share*in.Compute), domain: i, label: percentOf(share * in.Compute)})
				used += share
			}
			if used > 1+divisionSlack {
				return bad("the jobs of a compute instance have %v times what there is", used)
			}
			if used < 1-divisionSlack {
				out = append(out, divisionBox{from: compute + float64(used*in.Compute), to: compute + in.Compute, idle: true})
			}
			if in.MIG {
				frames = append(frames, divisionBox{from: compute, to: compute + in.Compute, frame: true})
			}
			compute += in.Compute
		}
	}
	for strip, sum := range []float64{compute, memory} {
		if sum > 1+divisionSlack {
			return bad("the shares of a GPU are %v together; they are at most 1", sum)
		}
		if sum < 1-divisionSlack {
			out = append(out, divisionBox{strip: strip, from: sum, to: 1, idle: true})
		}
	}
	sty := sans(textSize)
	for _, b := range out {
		if room := vg.Length(b.to-b.from) * divisionWidth; !b.idle && !(sty.Width(b.label) < room-2) {
			return bad("%s is too little to be labelled", b.label)
		}
	}
	return append(out, frames...), nil
}

// percentOf writes a share, for example 37.5 %.
func percentOf(share float64) string { return fmt.Sprintf("%.3g %%", 100*share) }
