// Package figures compares what the papers print with what this project measures.
//
// Each paper is a sub-package. It lists artefacts: the paper's tables, its figures, and the
// numbers in its text. An artefact lists the cells that it needs and builds tables, figures
// and findings from their results. A finding is a published number with its measured value
// and a verdict:
//
//   - REPRODUCED: within the tolerance, which a data file fixes beforehand;
//   - DEVIATES: outside the tolerance, with a reason;
//   - NOT RUNNABLE: something is missing, and the reason says what;
//   - INPUT: the project takes the number from the paper.
//
// This package runs no algorithm. All numbers come from package run, whose referee has
// checked every schedule, or were measured on a GPU ([datasets.Hardware]).
package figures
