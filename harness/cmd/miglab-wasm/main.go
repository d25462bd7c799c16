//go:build js && wasm

// Command miglab-wasm is the program behind the page try.html of the site. It runs in a Web Worker of a browser: each
// message to the worker is a [request] as JSON, and the program posts an [answer] as JSON for each, after a [welcome].
// It gives the same schedules, bounds and errors as the commands schedule and bound of miglab.
package main

import (
	"encoding/json"
	"syscall/js"

	_ "miglab/algorithms"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/spec"
)

// A welcome says what a request may name.
type welcome struct {
	GPUs       []gpuChoice       `json:"gpus"`
	Algorithms []algorithmChoice `json:"algorithms"`
}

type gpuChoice struct {
	Name  string       `json:"name"`
	Sizes []mig.Slices `json:"sizes"`
}

type algorithmChoice struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
}

func newWelcome() (w welcome) {
	for _, g := range mig.GPUs() {
		w.GPUs = append(w.GPUs, gpuChoice{Name: g.Name, Sizes: g.Sizes()})
	}
	for _, s := range algo.All(algo.TrackBatch) {
		w.Algorithms = append(w.Algorithms, algorithmChoice{Name: s.Name, Summary: s.Summary})
	}
	return w
}

func main() {
	receive := func(_ js.Value, args []js.Value) any {
		text := args[0].Get("data").String()
		go func() { post(reply(text)) }() // an algorithm must not block the event loop
		return nil
	}
	js.Global().Set("onmessage", js.FuncOf(receive))
	post(newWelcome())
	select {}
}

func post(v any) {
	text := spec.Must(json.Marshal(v)) // all numbers are finite
	js.Global().Call("postMessage", string(text))
}
