// Package store keeps results on disk so that work done once is never done again.
//
// A store is a folder of shards, one for each writer: results-0of1.jsonl holds one
// JSON line for each cell, a unit of work that is named by a JSON object and
// addressed by that object's SHA-256:
//
//	{"miglab":"results","format":1}
//	{"cell":{"track":"batch","instance":0},"metrics":{"makespan_s":12.5,"moves":3}}
//	{"cell":{"track":"batch","instance":1},"kind":"infeasible","error":"task ..."}
//
// Keys are not written: they follow from the cell, cannot disagree with it, and
// hashing costs less than reading them would. How long the work took stands apart,
// by key, in timing-0of1.jsonl, because no two runs agree on it:
//
//	{"miglab":"timing","format":1}
//	{"key":"1b4f0e98...","us":12.25}
//
// Whole lines are appended in one write. Killing a writer therefore costs at most
// the line it was writing; a last line without its end is ignored, and is cut off
// when the shard is next written to. Whatever else cannot be read is an error that
// names file and line: nothing is dropped silently. Shards merge by key, so copying
// them into one folder merges the work of several processes or machines. The same
// cell may stand in several shards if all agree on it.
//
// The package knows nothing about what a cell means.
package store
