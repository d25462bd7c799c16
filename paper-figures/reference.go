package figures

import (
	"embed"
	"fmt"
	"io"
	"strings"

	"miglab/harness/strictcsv"
	"miglab/paper-figures/manifest"
)

// A Reference is how a paper, or miglab itself, is cited: a line of references.csv. What is not known is empty.
type Reference struct {
	Name string `csv:"name"` // the paper's, or miglab
	// Datasets begins the names of the datasets whose workloads are the paper's: far of far/GOODSCALING+WIDETIMES.
	Datasets string `csv:"datasets"`
	// Key, Type and the form of Authors are BibTeX's.
	Key     string `csv:"key"`
	Type    string `csv:"type"`
	Authors string `csv:"authors"`
	Title   string `csv:"title"`
	Venue   string `csv:"venue"`
	Volume  string `csv:"volume"`
	Number  string `csv:"number"` // the article's number
	Year    int    `csv:"year"`
	DOI     string `csv:"doi"`
	ArXiv   string `csv:"arxiv"`
	manifest.Introduction
}

// Link is the address of the paper; empty if it has none.
func (r *Reference) Link() string {
	switch {
	case r.DOI != "":
		return "https://doi.org/" + r.DOI
	case r.ArXiv != "":
		return "https://arxiv.org/abs/" + r.ArXiv
	}
	return ""
}

//go:embed references.csv
var referenceFile embed.FS

// References returns how miglab and then each paper is cited.
func References() []Reference {
	return strictcsv.Embedded[Reference](referenceFile, "references.csv", strictcsv.Columns[Reference]()...)
}

// venueFields are the fields that BibTeX has for the venue, by the type of the entry.
var venueFields = map[string]string{"article": "journal", "inproceedings": "booktitle", "misc": "howpublished"}

// escapes are the characters that mean something to LaTeX.
var escapes = strings.NewReplacer(`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "#", `\#`, "_", `\_`, "$", `\$`,
	"{", `\{`, "}", `\}`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`)

// WriteBibTeX writes the entry with a note, which may be empty. It returns the errors of w.
func (r *Reference) WriteBibTeX(w io.Writer, note string) error {
	entry := fmt.Sprintf("@%s{%s,\n  title = {{%s}},\n", r.Type, r.Key, r.Title)
	archive := ""
	if r.ArXiv != "" {
		archive = "arXiv"
	}
	for _, field := range [][2]string{
		{"author", r.Authors},
		{venueFields[r.Type], r.Venue},
		{"volume", r.Volume},
		{"pages", r.Number},
		{"year", fmt.Sprint(r.Year)},
		{"doi", r.DOI},
		{"eprint", r.ArXiv},
		{"archiveprefix", archive},
		{"note", escapes.Replace(note)},
	} {
		if field[1] != "" {
			entry += fmt.Sprintf("  %s = {%s},\n", field[0], field[1])
		}
	}
	_, err := io.WriteString(w, entry+"}\n")
	return err
}
