package reports

import "strings"

// latexSpecial escapes the characters that are commands in LaTeX or missing in its text fonts.
// Brackets and stars are in braces, because at the beginning of a row LaTeX would read them as
// arguments of the line break before it.
var latexSpecial = strings.NewReplacer(
	`\`, `\textbackslash{}`, `&`, `\&`, `%`, `\%`, `$`, `\$`, `#`, `\#`, `_`, `\_`, `{`, `\{`, `}`, `\}`,
	`~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`, `<`, `$<$`, `>`, `$>$`, `|`, `$|$`, `"`, `''`,
	`[`, `{[}`, `]`, `{]}`, `*`, `{*}`,
	"±", `$\pm$`, "×", `$\times$`, "÷", `$\div$`, "·", `$\cdot$`, "−", `$-$`, "≤", `$\leq$`, "≥", `$\geq$`, "≠", `$\neq$`, "≈", `$\approx$`,
	"∞", `$\infty$`, "→", `$\to$`, "←", `$\gets$`, "√", `$\surd$`, "∑", `$\sum$`, "°", `$^\circ$`, "²", `$^2$`, "³", `$^3$`,
	"–", `--`, "—", `---`, "…", `\ldots{}`, "“", "``", "”", `''`, "‘", "`", "’", `'`, "\u00a0", `~`,
	"α", `$\alpha$`, "β", `$\beta$`, "γ", `$\gamma$`, "δ", `$\delta$`, "ε", `$\varepsilon$`, "ζ", `$\zeta$`, "η", `$\eta$`, "θ", `$\theta$`,
	"ι", `$\iota$`, "κ", `$\kappa$`, "λ", `$\lambda$`, "μ", `$\mu$`, "µ", `$\mu$`, "ν", `$\nu$`, "ξ", `$\xi$`, "ο", `$o$`, "π", `$\pi$`,
	"ρ", `$\rho$`, "σ", `$\sigma$`, "ς", `$\varsigma$`, "τ", `$\tau$`, "υ", `$\upsilon$`, "φ", `$\varphi$`, "χ", `$\chi$`, "ψ", `$\psi$`, "ω", `$\omega$`,
	"Γ", `$\Gamma$`, "Δ", `$\Delta$`, "Θ", `$\Theta$`, "Λ", `$\Lambda$`, "Ξ", `$\Xi$`, "Π", `$\Pi$`, "Σ", `$\Sigma$`, "Φ", `$\Phi$`, "Ψ", `$\Psi$`, "Ω", `$\Omega$`,
)

// latex writes a table environment for the booktabs package, with the title as
// its caption. Cells are taken literally: special characters are escaped, and
// Greek letters and common signs become mathematics.
func (t *Table) latex(p *printer) {
	t = t.joined()
	p.line(`\begin{table}`)
	p.line(`\centering`)
	if t.Title != "" {
		p.line(`\caption{` + latexSpecial.Replace(t.Title) + `}`)
	}
	var alignment strings.Builder
	for _, c := range t.Columns {
		if c.Right {
			alignment.WriteByte('r')
		} else {
			alignment.WriteByte('l')
		}
	}
	row := func(cells []string) { p.line(strings.Join(escaped(latexSpecial, cells), " & ") + ` \\`) }
	p.line(`\begin{tabular}{` + alignment.String() + `}`)
	p.line(`\toprule`)
	row(t.names())
	p.line(`\midrule`)
	for _, r := range t.Rows {
		row(r)
	}
	p.line(`\bottomrule`)
	p.line(`\end{tabular}`)
	for _, n := range t.Notes {
		p.line(`\par\footnotesize ` + latexSpecial.Replace(n))
	}
	p.line(`\end{table}`)
}
