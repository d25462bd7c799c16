package site

// premisesView is the page about how measured work scales, beside the workloads of the papers.
type premisesView struct {
	// Paper is the page of the paper whose artefact it is.
	Paper       string
	Conclusions []Conclusion
	// Figures are the artefact's drawings, then its tables.
	Figures []figureView
}

func viewPremises(d *Data, figures figuresView) (v premisesView) {
	here := func(paper, artefact string) bool { return d.Premises != "" && paper+"/"+artefact == d.Premises }
	for _, p := range d.Papers {
		own := matching(p.Conclusions, func(c Conclusion) bool { return here(p.Name, c.Artefact) })
		v.Conclusions = append(v.Conclusions, own...)
	}
	v.Figures = matching(figures.Figures, func(f figureView) bool { return here(f.Paper, f.Artefact) })
	if len(v.Figures) > 0 {
		v.Paper = paperFile("claims", v.Figures[0].Paper)
	}
	return v
}
