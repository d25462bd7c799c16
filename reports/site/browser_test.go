package site_test

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"miglab/harness/deep"
	"miglab/reports"
	"miglab/reports/site"
)

// patience is what one step in the browser may take.
const patience = 30 * time.Second

// contrast lists the text with less contrast than WCAG's AA asks for.
//
//go:embed testdata/contrast.js
var contrast string

// A tab is a page in a real browser, which notes what it asks for and complains about.
type tab struct {
	t       *testing.T
	ctx     context.Context
	address string // of the site's folder, with a slash at the end

	lock               sync.Mutex
	requests, troubles []string
}

// openTab writes the site, starts a browser without a window, and ends it with the test.
// Without a browser the test is skipped, unless MIGLAB_REQUIRE_BROWSER is set to 1.
func openTab(t *testing.T, d site.Data) *tab {
	t.Helper()
	names := []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}
	browser := ""
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		message := fmt.Sprintf("no browser: none of %q is in PATH", names)
		if os.Getenv("MIGLAB_REQUIRE_BROWSER") == "1" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	dir := filepath.Join(t.TempDir(), "site")
	if err := site.Write(dir, d); err != nil {
		t.Fatal(err)
	}
	limit := 4 * time.Minute
	if deep.On() {
		limit = 20 * time.Minute
	}
	limited, stop := context.WithTimeout(context.Background(), limit)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(limited, chromedp.WithAllocatorOptions(chromedp.ExecPath(browser), chromedp.NoSandbox))
	t.Cleanup(func() {
		defer cancel()
		closing, stop := context.WithTimeout(ctx, patience)
		defer stop()
		if err := chromedp.Cancel(closing); err != nil {
			t.Errorf("the browser does not end: %v", err)
		}
	})
	tab := &tab{t: t, ctx: ctx, address: "file://" + filepath.ToSlash(dir) + "/"}
	if err := chromedp.Listen(ctx, tab.note); err != nil {
		t.Fatal(err)
	}
	return tab
}

// note keeps requests and everything that a browser's console would show.
func (tab *tab) note(event any) {
	tab.lock.Lock()
	defer tab.lock.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		tab.requests = append(tab.requests, e.Request.URL)
	case *network.EventWebSocketCreated:
		tab.requests = append(tab.requests, e.URL)
	case *runtime.EventConsoleAPICalled:
		tab.troubles = append(tab.troubles, fmt.Sprintf("console.%s", e.Type))
	case *runtime.EventExceptionThrown:
		tab.troubles = append(tab.troubles, fmt.Sprintf("exception: %+v", e.ExceptionDetails))
	case *log.EventEntryAdded:
		tab.troubles = append(tab.troubles, fmt.Sprintf("log: %s %s", e.Entry.Text, e.Entry.URL))
	}
}

// act runs a step in the browser.
func act[T any](tab *tab, what string, a chromedp.Action[T]) T {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		tab.t.Fatalf("%s: %v", what, err)
	}
	return v
}

// open opens a page of the site, from about:blank so that an address that differs in its
// fragment alone is loaded too.
func (tab *tab) open(page string) {
	tab.t.Helper()
	act(tab, page, chromedp.Navigate("about:blank"))
	act(tab, page, chromedp.Navigate(tab.address+page))
}

// size sets the size of the window.
func (tab *tab) size(width, height int64) {
	tab.t.Helper()
	act(tab, "window", chromedp.EmulateViewport(width, height))
}

// get evaluates JavaScript.
func get[T any](tab *tab, js string) T {
	tab.t.Helper()
	return act(tab, js, chromedp.Evaluate[T](js))
}

// wait waits until JavaScript is true. It evaluates in the page that is shown: chromedp.Poll names the page, and names
// the one before as long as the browser has not told of the new one.
func (tab *tab) wait(js string) {
	tab.t.Helper()
	for begin := time.Now(); !get[bool](tab, js); time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > patience {
			tab.t.Fatalf("waited %s for %s", patience, js)
		}
	}
}

// choose sets a field of a form as a user does.
func (tab *tab) choose(field, value string) {
	tab.t.Helper()
	get[bool](tab, fmt.Sprintf(`(() => { const f = document.querySelector("form.filters").elements[%q]; f.value = %q; f.dispatchEvent(new Event("input", {bubbles: true})); return f.value === %[2]q; })()`, field, value))
}

// press types a key.
func (tab *tab) press(key string) {
	tab.t.Helper()
	act(tab, "key", chromedp.KeyEvent(key))
}

// column lists the cells of a column in the rows that can be seen.
func (tab *tab) column(name string) []string {
	tab.t.Helper()
	return get[[]string](tab, fmt.Sprintf(`(() => {
		const table = [...document.querySelectorAll("table.sortable")].find((t) => t.offsetParent);
		const at = [...table.querySelectorAll("thead th")].findIndex((h) => h.dataset.column === %q);
		return [...table.tBodies[0].rows].filter((r) => !r.hidden).map((r) => r.cells[at].textContent);
	})()`, name))
}

// click clicks what a selector finds.
func (tab *tab) click(selector string) {
	tab.t.Helper()
	act(tab, selector, chromedp.Click(chromedp.CSS(selector)))
}

func (tab *tab) equal(what string, got, want any) {
	tab.t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		tab.t.Errorf("%s: %s, want %s", what, g, w)
	}
}

func TestBrowser(t *testing.T) {
	page := openTab(t, sample())
	for _, c := range []struct {
		name string
		test func(*tab)
	}{
		{"sort", sorts},
		{"keyboard", keyboard},
		{"filter", filter},
		{"first screen", firstScreen},
		{"fold", fold},
		{"address", address},
		{"numbers", numbers},
		{"document", document},
		{"gantt", gantt},
		{"pinch", pinch},
		{"hostile", hostileNames},
		{"theme", theme},
		{"phone", phone},
	} {
		t.Run(c.name, func(t *testing.T) {
			page.t = t
			page.size(1280, 900)
			c.test(page)
		})
	}
	page.lock.Lock()
	defer page.lock.Unlock()
	for _, trouble := range page.troubles {
		t.Errorf("the browser complains: %s", trouble)
	}
	if !slices.Contains(page.requests, page.address+"data/drl-widetimes.js") {
		t.Errorf("the requests are not noted: %q", page.requests)
	}
	for _, r := range page.requests {
		if !strings.HasPrefix(r, page.address) && !strings.HasPrefix(r, "data:") && r != "about:blank" {
			t.Errorf("a request for %s", r)
		}
	}
}

const sortBy = `section.board.shown th[data-column=%q] button`

func sorts(tab *tab) {
	tab.open("batch.html#dataset=drl%2FWIDETIMES&all=1")
	tab.equal("at first", tab.column("algorithm"), []string{"far", "miso", "nomig", "late"})
	tab.click(fmt.Sprintf(sortBy, "gap_percent"))
	tab.equal("ascending", tab.column("gap_percent"), []string{"9.500", "10.250", "100.125", "–"})
	tab.click(fmt.Sprintf(sortBy, "gap_percent"))
	tab.equal("descending, missing last", tab.column("gap_percent"), []string{"100.125", "10.250", "9.500", "–"})
	tab.equal("aria-sort", get[string](tab, `document.querySelector("section.board.shown th[aria-sort]").ariaSort`), "descending")
	tab.click(fmt.Sprintf(sortBy, "algorithm"))
	tab.equal("text", tab.column("algorithm"), []string{"far", "late", "miso", "nomig"})
	tab.equal("sorted headings", get[int](tab, `document.querySelectorAll("section.board.shown th[aria-sort]").length`), 1)
}

func keyboard(tab *tab) {
	tab.open("batch.html#dataset=drl%2FWIDETIMES")
	// Where the first Tab begins after an address with a fragment depends on the browser's version.
	get[bool](tab, `(() => { document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute("tabindex"); return true; })()`)
	tab.press(kb.Tab)
	tab.equal("the first stop", get[string](tab, `document.activeElement.className`), "skip")
	tab.press(kb.Enter)
	for range 40 {
		tab.press(kb.Tab)
		if get[string](tab, `document.activeElement.textContent`) == "time" {
			break
		}
	}
	tab.equal("the heading has the focus", get[string](tab, `document.activeElement.textContent`), "time")
	tab.equal("the focus can be seen", get[string](tab, `getComputedStyle(document.activeElement).outlineStyle`), "solid")
	tab.press(kb.Enter)
	tab.equal("Enter", tab.column("instance_us"), []string{"250 µs", "333 µs", "500 µs", "1.00 ms"})
	tab.press(" ")
	tab.equal("space", tab.column("instance_us"), []string{"1.00 ms", "500 µs", "333 µs", "250 µs"})
}

// The first screen says who leads and what it costs; numbers for those who want all are behind a
// switch, and names lead to the algorithms.
func firstScreen(tab *tab) {
	tab.open("batch.html#dataset=drl%2FWIDETIMES")
	tab.equal("the answer", get[string](tab, `document.querySelector("section.board.shown .answer:not([hidden])").textContent`),
		"drl/WIDETIMES: far leads with 9.50 % above the bound (95 % interval 9.50 to 9.50). Next is miso with 10.2 % above the bound; on 20 instances the difference is certain.")
	visible := `getComputedStyle(document.querySelector("section.board.shown th[data-column=ci_low]")).display !== "none"`
	tab.equal("details at first", get[bool](tab, visible), false)
	tab.click("input[name=all]")
	tab.equal("details", get[bool](tab, visible), true)
	tab.equal("points", get[int](tab, `document.querySelectorAll("section.board.shown .cost circle").length`), 3)
	tab.equal("the values and their intervals are placed", get[[]string](tab, `[...document.querySelectorAll("section.board.shown tr:not([hidden]) .span")].map((s) => s.style.getPropertyValue("--a"))`), []string{"0%", "0.8%", "100%", "0%"})
	tab.open(get[string](tab, `document.querySelector("section.board.shown .first a").getAttribute("href")`))
	tab.equal("the first is described", get[string](tab, `document.querySelector(":target th").textContent`), "far")
}

func filter(tab *tab) {
	tab.open("batch.html")
	shown := `document.querySelectorAll("section.board.shown").length`
	tab.equal("datasets at first", tab.column("dataset"), slices.Repeat([]string{"drl/WIDETIMES"}, 4))
	tab.equal("datasets on offer", get[[]string](tab, `[...document.querySelector("[name=dataset]").options].map((o) => o.value)`), []string{"drl/WIDETIMES", hostile, "*"})
	tab.choose("dataset", "*")
	tab.equal("all datasets", len(tab.column("dataset")), 5)
	tab.choose("q", "MIS")
	tab.equal("algorithms by text", tab.column("algorithm"), []string{"miso"})
	tab.choose("q", "")
	tab.choose("gpu", "A30")
	tab.equal("by GPU", tab.column("gap_percent"), []string{"2.000", "6.000"})
	tab.choose("gpu", "A100")
	tab.choose("model", "parallel")
	tab.equal("by model", tab.column("gap_percent"), []string{"7.000"})
	tab.equal("boards", get[int](tab, shown), 1)
	tab.click("#board-filters button[type=reset]")
	tab.equal("after reset", tab.column("algorithm"), []string{"far", "miso", "nomig", "late"})
	tab.open(get[string](tab, `document.querySelector(".tabs li:last-child a").getAttribute("href")`))
	tab.equal("by track", tab.column("algorithm"), []string{"exact"})
	tab.equal("the choice of a model, where there is none", get[bool](tab, `document.querySelector("#board-model").hidden`), true)
}

// Seeds and variants are folded under one row, stay with it, and are found by name.
func fold(tab *tab) {
	tab.open("batch.html#gpu=A30")
	tab.equal("folded", tab.column("algorithm"), []string{"far2 variants: 3.00 % to 4.00 %", "agent?seed=21 variant: 7.00 %"})
	tab.equal("the scale and its unit", get[string](tab, `document.querySelector("section.board.shown .scale").textContent`), "scale: 2.00 to 7.00 %")
	tab.click("section.board.shown tr[data-algorithm=far] .fold")
	tab.equal("unfolded", tab.column("gap_percent"), []string{"2.000", "3.000", "4.000", "6.000"})
	for range 2 {
		tab.click(fmt.Sprintf(sortBy, "interval"))
	}
	tab.equal("descending, with the head", tab.column("gap_percent"), []string{"6.000", "2.000", "4.000", "3.000"})
	tab.click("section.board.shown tr[data-algorithm=far] .fold")
	tab.choose("q", "seed=3")
	tab.equal("by name", tab.column("gap_percent"), []string{"4.000"})
}

// What is chosen is in the address, and the address brings it back.
func address(tab *tab) {
	tab.open("batch.html#all=1")
	tab.choose("dataset", "*")
	tab.click(fmt.Sprintf(sortBy, "gap_percent"))
	tab.click(fmt.Sprintf(sortBy, "gap_percent"))
	tab.choose("q", "m")
	want := tab.column("algorithm")
	tab.equal("sorted and filtered", want, []string{"nomig", "miso", hostile})
	_, fragment, _ := strings.Cut(get[string](tab, `location.href`), "#")
	tab.open("batch.html#" + fragment)
	tab.equal("from "+fragment, tab.column("algorithm"), want)
}

// numbersShown are the numbers that are not filtered out.
const numbersShown = `[...document.querySelectorAll("table.numbers tbody tr")].filter((r) => r.offsetParent).map((r) => r.cells[0].textContent)`

func numbers(tab *tab) {
	tab.open("numbers.html#verdict=DEVIATES")
	tab.equal("by the address", get[[]string](tab, numbersShown), []string{"far table4 rho n=15"})
	tab.choose("verdict", "")
	tab.equal("all", get[int](tab, numbersShown+".length"), 3)
	tab.choose("q", "n=10")
	tab.equal("by text", get[[]string](tab, numbersShown), []string{"far table4 rho n=10"})
	tab.choose("q", "")
	tab.choose("cause", "script")
	tab.equal("by cause", get[[]string](tab, numbersShown), []string{"far table4 rho n=15"})
	tab.equal("the verdicts", get[[]string](tab, `[...document.querySelector("select[name=verdict]").options].map((o) => o.textContent)`), []string{"all", "REPRODUCED", "DEVIATES", "NOT RUNNABLE"})
}

// document: the pages of results have their drawings, and a link leads to a place.
func document(tab *tab) {
	tab.open("papers/index.html")
	tab.click(`a[href="METHOD.html#causes"]`)
	tab.wait(`document.querySelector("h2")?.textContent === "Causes of deviations"`)
	tab.open("papers/far/index.html")
	tab.wait(`[...document.querySelectorAll("article img")].filter((i) => i.complete && i.naturalWidth > 0).length === 2`)
}

// span is the length of the time axis that the charts show.
const span = `(({from, to}) => to - from)(document.querySelector("#charts").dataset)`

// miscounted counts, for each chart, the pixels at which the slices in use or the tasks that have not begun differ from
// the bars above. A slice is 30 pixels high, and a count 36.
const miscounted = `[...document.querySelectorAll(".chart")].map((c) => {
	const bars = [...c.querySelectorAll("rect.run")].map((r) => r.getBBox());
	let wrong = 0, seen = 0;
	[...c.querySelectorAll(".steps")].forEach((path, k) => {
		const d = path.getAttribute("d"), [, x0, y0] = d.match(/^M(\S+) ([^H]+)/);
		const steps = [{ x: +x0, y: +y0 }, ...[...d.matchAll(/H([^V]+)V([^H]+)/g)].map(([, x, y]) => ({ x: +x, y: +y }))];
		for (let px = 0.5; px < Math.max(...bars.map((b) => b.x + b.width)); px++) {
			if (bars.some((b) => Math.abs(b.x - px) < 1 || Math.abs(b.x + b.width - px) < 1)) continue;
			const drawn = (steps.at(-1).y - steps.filter((s) => s.x <= px).at(-1).y) / 36;
			const used = bars.filter((b) => b.x <= px && px < b.x + b.width).reduce((n, b) => n + b.height / 30, 0) / 7;
			const share = k === 0 ? used : bars.filter((b) => px < b.x).length / bars.length;
			seen++;
			if (Math.abs(drawn - share) > 0.01) wrong++;
		}
	});
	return seen > 200 ? wrong : "few pixels";
})`

func gantt(tab *tab) {
	tab.open("instances.html#instance=1&a=parts&b=whole")
	tab.wait(`document.querySelectorAll(".chart rect.run").length > 0`)
	tab.equal("algorithms", get[[]string](tab, `[...document.querySelectorAll(".plan h2")].map((h) => h.textContent)`), []string{"parts", "whole"})
	tab.equal("tasks", get[[]int](tab, `[...document.querySelectorAll(".chart")].map((c) => c.querySelectorAll("rect.run").length)`), []int{4, 4})
	tab.equal("reconfigurations", get[[]int](tab, `[...document.querySelectorAll(".chart")].map((c) => c.querySelectorAll("rect.create").length)`), []int{2, 1})
	colours := reports.NewGanttColours()
	tab.equal("the colours of the figures", get[[]string](tab, `[...document.querySelectorAll(".chart")].map((c) => [...c.querySelectorAll("rect.run")].find((r) => r.dataset.bar === "1").getAttribute("fill"))`), []string{colours.Tasks[0], colours.Tasks[0]})
	tab.equal("the colour of creations", get[string](tab, `getComputedStyle(document.querySelector("rect.create")).fill`), "rgb(0, 221, 238)")
	tab.equal("the optimum", get[int](tab, `[...document.querySelectorAll(".gantt text.bound")].filter((t) => t.textContent === "proven optimum 5.000 s").length`), 2)
	tab.equal("as a table", get[[]int](tab, `[...document.querySelectorAll(".plan tbody")].map((t) => t.rows.length)`), []int{6, 5})
	tab.equal("the same axis", get[bool](tab, `(([a, b]) => a.textContent === b.textContent && a.textContent !== "")([...document.querySelectorAll(".gantt .axis")].map((g) => ({textContent: [...g.querySelectorAll("text:not(.bound, .end)")].map((t) => t.textContent).join()})))`), true)
	tab.equal("pixels where a count differs from the bars", get[[]any](tab, miscounted), []any{0.0, 0.0})
	tab.equal("side by side", get[bool](tab, `(([a, b]) => a.top === b.top && a.right <= b.left)([...document.querySelectorAll(".chart")].map((c) => c.getBoundingClientRect()))`), true)

	whole := get[float64](tab, span)
	narrower := func(how string, than float64) float64 {
		tab.t.Helper()
		now := get[float64](tab, span)
		if !(now < than*0.95) {
			tab.t.Errorf("%s: %v s of the axis are shown, and before %v s", how, now, than)
		}
		return now
	}
	tab.click(`#zoom [data-do="in"]`)
	now := narrower("the button", whole)
	get[any](tab, `document.querySelector(".chart").focus(), 0`)
	tab.press("+")
	now = narrower("the key", now)
	middle := get[[]float64](tab, `(({x, y, width, height}) => [x + width / 2, y + height / 2])(document.querySelector(".chart").getBoundingClientRect())`)
	act(tab, "wheel", chromedp.MouseEvent(input.DispatchMouseEventTypeMouseWheel, middle[0], middle[1], func(p *input.DispatchMouseEventParams) {
		p.DeltaX, p.DeltaY = 1e-9, -120 // zero would be left out of the message
	}))
	tab.wait(fmt.Sprintf("%s < %v", span, now))
	narrower("the wheel", now)
	from := get[float64](tab, `Number(document.querySelector("#charts").dataset.from)`)
	tab.press(kb.ArrowRight)
	if after := get[float64](tab, `Number(document.querySelector("#charts").dataset.from)`); after <= from {
		tab.t.Errorf("the right arrow: the axis begins at %v s, and before at %v s", after, from)
	}
	tab.press("0")
	tab.equal("reset", get[float64](tab, span), whole)

	// The first bar creates an instance, the second runs the first task.
	tab.press(kb.ArrowDown)
	tab.press(kb.ArrowDown)
	tab.equal("details", get[string](tab, `document.querySelector(".detail").textContent.replaceAll("\u00a0", " ")`), "task a: size 4, place slices S0–S3, start 0.210 s, end 4.210 s, takes 4.000 s")
	tab.wait(`document.querySelectorAll(".chart rect.run.marked").length === 2`)
	act(tab, "hover", chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, middle[0]/2, middle[1]-80))
	tab.wait(`!document.getElementById("tip").hidden`)

	tab.choose("instance", "0")
	tab.equal("another instance", get[int](tab, `document.querySelectorAll(".chart rect.run").length`), 12)
	tab.choose("dataset", hostile)
	tab.wait(`document.querySelectorAll(".chart rect.run").length === 6`)
}

func pinch(tab *tab) {
	tab.size(390, 844)
	act(tab, "touch", chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true})
		return err
	}))
	tab.open("instances.html")
	tab.wait(`document.querySelectorAll(".chart rect.run").length > 0`)
	get[any](tab, `document.querySelector(".chart").scrollIntoView({block: "center"}), 0`)
	at := get[[]float64](tab, `(({x, y, width, height}) => [x + width / 2, y + height / 2])(document.querySelector(".chart").getBoundingClientRect())`)
	whole := get[float64](tab, span)
	for _, e := range []struct {
		kind  input.DispatchTouchEventType
		apart float64
	}{{input.DispatchTouchEventTypeTouchStart, 40}, {input.DispatchTouchEventTypeTouchMove, 80}, {input.DispatchTouchEventTypeTouchMove, 120}, {input.DispatchTouchEventTypeTouchEnd, 0}} {
		points := []*input.TouchPoint{{X: at[0] - e.apart, Y: at[1], ID: new(1.0)}, {X: at[0] + e.apart, Y: at[1], ID: new(2.0)}}
		if e.apart == 0 {
			points = []*input.TouchPoint{}
		}
		act(tab, "touch", chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: e.kind, TouchPoints: points})
			return err
		}))
	}
	tab.wait(fmt.Sprintf("%s < %v", span, whole/2))
	act(tab, "touch", chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{})
		return err
	}))
}

// Names show as they are and make nothing.
func hostileNames(tab *tab) {
	for _, page := range []string{"index.html", "suite.html", "batch.html#dataset=*", "numbers.html", "papers/far/table4.html", "clusters.html"} {
		tab.open(page)
		tab.equal(page+": images of the name", get[int](tab, `document.querySelectorAll('img[src="x"]').length`), 0)
	}
	tab.open("instances.html")
	tab.choose("dataset", hostile)
	tab.wait(`document.querySelectorAll(".plan").length === 2`)
	tab.choose("b", hostile)
	tab.equal("the heading", get[string](tab, `document.querySelectorAll(".plan h2")[1].textContent`), hostile)
	tab.equal("images of the name", get[int](tab, `document.querySelectorAll('img[src="x"]').length`), 0)
}

// allPages are a page of each kind.
var allPages = []string{
	"index.html", "suite.html", "batch.html", "batch.html#dataset=*&all=1", "corun.html", "algorithms.html", "numbers.html", "papers/index.html", "papers/far/index.html",
	"papers/far/table4.html", "instances.html", "clusters.html",
}

// serious is what axe-core, whose path MIGLAB_AXE names (make test-site), finds serious about the
// page; nothing without a path.
func (tab *tab) serious() []string {
	tab.t.Helper()
	path := os.Getenv("MIGLAB_AXE")
	if path == "" {
		return nil
	}
	axe, err := os.ReadFile(path)
	if err != nil {
		tab.t.Fatal(err)
	}
	get[bool](tab, string(axe)+`; axe.run({ preload: false }).then((r) => { window.found = r.violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => v.id + ": " + v.nodes.map((n) => n.html).join(" ")); }); true`)
	tab.wait(`window.found !== undefined`)
	return get[[]string](tab, `window.found`)
}

func theme(tab *tab) {
	ground := `getComputedStyle(document.body).backgroundColor`
	tab.open("batch.html")
	light := get[string](tab, ground)
	tab.click("#theme")
	dark := get[string](tab, ground)
	tab.equal("pressed", get[string](tab, `document.querySelector("#theme").ariaPressed`), "true")
	if light == dark {
		tab.t.Errorf("both themes stand on %s", dark)
	}
	for _, page := range allPages {
		for _, want := range []string{light, dark} {
			tab.open(page)
			if get[string](tab, ground) != want {
				tab.click("#theme")
			}
			tab.equal(page+": the ground", get[string](tab, ground), want)
			if low := get[[]string](tab, contrast); len(low) > 0 {
				tab.t.Errorf("%s on %s: too little contrast: %q", page, want, low)
			}
			if found := tab.serious(); len(found) > 0 {
				tab.t.Errorf("%s: axe-core finds %q", page, found)
			}
		}
	}
	tab.open("batch.html")
	tab.equal("the choice stays", get[string](tab, ground), dark)
	get[bool](tab, `document.querySelector("main").append(document.createElement("button")); true`)
	if found := tab.serious(); os.Getenv("MIGLAB_AXE") != "" && len(found) != 1 {
		tab.t.Errorf("axe-core finds %q about a button without a name", found)
	}
}

func phone(tab *tab) {
	tab.size(390, 844)
	for _, page := range allPages {
		tab.open(page)
		if strings.HasPrefix(page, "instances") {
			tab.wait(`document.querySelectorAll(".chart rect.run").length > 0`)
			tab.equal("one above the other", get[bool](tab, `(([a, b]) => a.left === b.left && a.bottom <= b.top)([...document.querySelectorAll(".chart")].map((c) => c.getBoundingClientRect()))`), true)
		}
		if width := get[float64](tab, `document.documentElement.scrollWidth`); width > 390 {
			tab.t.Errorf("%s is %v pixels wide", page, width)
		}
		tab.equal("verdicts on "+page+" that are cut", get[int](tab, `[...document.querySelectorAll(".cards .badge")].filter((b) => b.offsetParent && b.getBoundingClientRect().right > 390).length`), 0)
		tab.wait(`performance.getEntriesByName("first-contentful-paint").length > 0`)
		tab.t.Logf("%s: first contentful paint after %.0f ms", page, get[float64](tab, `performance.getEntriesByName("first-contentful-paint")[0].startTime`))
	}
}
