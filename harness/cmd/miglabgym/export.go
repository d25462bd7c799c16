//go:build cgo

package main

/*
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
*/
import "C"

import (
	"encoding/json"
	"fmt"
	"sync"
	"unsafe"
)

// Each function returns NULL, or what went wrong, to be given to miglab_free. Handles
// are numbers: C holds no pointer to Go memory, and Go holds none to C memory once a
// function has returned. Functions may be called from any thread; those of one handle
// wait for each other.

// open vectors by handle.
var (
	registry sync.Mutex
	vectors  = map[int64]*vector{}
	last     int64
)

// description is what a caller needs to allocate buffers.
type description struct {
	// Observation and Actions are the lengths of a row.
	Observation int `json:"observation"`
	Actions     int `json:"actions"`
	// Facts and Metrics name the columns of facts and metrics.
	Facts   []string `json:"facts"`
	Metrics []string `json:"metrics"`
	// Instances is how many the dataset has that episodes are of; 0 without one, and where
	// there is no end.
	Instances int `json:"instances"`
}

func message(err error) *C.char {
	if err == nil {
		return nil
	}
	return C.CString(err.Error())
}

// miglab_make opens count environments. options is a JSON object. description, to be
// given to miglab_free, becomes one with observation, actions, facts, metrics and
// instances. Environment i draws its episodes from a stream with the seed seed+i.
//
//export miglab_make
func miglab_make(
	name, options *C.char, count C.int64_t, seed C.uint64_t, number *C.int64_t, describe **C.char,
) *C.char {
	v, err := newVector(C.GoString(name), C.GoString(options), int64(count), uint64(seed))
	if err != nil {
		return message(err)
	}
	text, err := json.Marshal(description{
		v.shape.Observation, v.shape.Actions, append([]string{}, v.facts...),
		v.metrics, v.instances,
	})
	if err != nil {
		return message(err)
	}
	registry.Lock()
	defer registry.Unlock()
	last++
	vectors[last] = v
	*number, *describe = C.int64_t(last), C.CString(string(text))
	return nil
}

// withVector calls f with the vector of a handle.
func withVector(number C.int64_t, f func(*vector) error) *C.char {
	registry.Lock()
	v := vectors[int64(number)]
	registry.Unlock()
	if v == nil {
		return message(fmt.Errorf("handle %d is not open", int64(number)))
	}
	v.calls.Lock()
	defer v.calls.Unlock()
	return message(f(v))
}

// miglab_seed restarts the stream from which an environment draws its episodes, from the next
// one on. Where episodes are instances of a dataset, they begin again.
//
//export miglab_seed
func miglab_seed(number, environment C.int64_t, seed C.uint64_t) *C.char {
	return withVector(number, func(v *vector) error {
		if err := v.has(int(environment)); err != nil {
			return err
		}
		v.seed(int(environment), uint64(seed))
		return nil
	})
}

// miglab_reset begins an episode in the environments that which [count] names, NULL for all of
// them, and writes their rows of observations [count][observation], masks [count][actions] and
// facts [count][facts].
//
//export miglab_reset
func miglab_reset(number C.int64_t, which *C.bool, observations *C.float, masks *C.bool, facts *C.double) *C.char {
	return withVector(number, func(v *vector) error {
		var some []bool
		if which != nil {
			some = unsafe.Slice((*bool)(which), len(v.envs))
		}
		b := v.shown(observations, masks)
		b.facts = unsafe.Slice((*float64)(facts), len(v.envs)*len(v.facts))
		return v.reset(some, b)
	})
}

// miglab_step carries out actions [count] and writes observations and masks, rewards [count],
// done [count] and metrics [count][metrics], NaN but where an episode is done. Such an
// environment shows zeros and waits for a reset; until then, its actions are ignored. Where an
// action is not allowed, nothing happens in any environment.
//
//export miglab_step
func miglab_step(
	number C.int64_t, actions *C.int64_t,
	observations *C.float, masks *C.bool, rewards *C.float, done *C.bool, metrics *C.double,
) *C.char {
	return withVector(number, func(v *vector) error {
		n := len(v.envs)
		b := v.shown(observations, masks)
		b.rewards, b.done = unsafe.Slice((*float32)(rewards), n), unsafe.Slice((*bool)(done), n)
		b.metrics = unsafe.Slice((*float64)(metrics), n*len(v.metrics))
		return v.step(unsafe.Slice((*int64)(actions), n), b)
	})
}

// shown takes C's memory for observations and masks.
func (v *vector) shown(observations *C.float, masks *C.bool) *buffers {
	n := len(v.envs)
	return &buffers{
		observations: unsafe.Slice((*float32)(observations), n*v.shape.Observation),
		masks:        unsafe.Slice((*bool)(masks), n*v.shape.Actions),
	}
}

// miglab_answer returns what a file of answers (harness/external/PROTOCOL.md) has for the
// instance of an environment that is done: a line, to be given to miglab_free.
//
//export miglab_answer
func miglab_answer(number, environment C.int64_t, line **C.char) *C.char {
	return withVector(number, func(v *vector) error {
		text, err := v.answer(int(environment))
		if err == nil {
			*line = C.CString(string(text))
		}
		return err
	})
}

// miglab_close forgets a handle.
//
//export miglab_close
func miglab_close(number C.int64_t) *C.char {
	return withVector(number, func(*vector) error {
		registry.Lock()
		defer registry.Unlock()
		delete(vectors, int64(number))
		return nil
	})
}

// miglab_free frees a text.
//
//export miglab_free
func miglab_free(text *C.char) { C.free(unsafe.Pointer(text)) }
