// Package figures sets what the papers print beside what this project measures.
//
// Each paper is a sub-package: a list of artefacts (its tables, its figures, the
// numbers in its text), each with the cells it needs and a function that turns
// their results into tables, figures and findings. A finding is a published
// number with its measured value and a verdict:
//
//   - REPRODUCED: within the tolerance, which is fixed in a data file beforehand;
//   - DEVIATES: outside it, with the reason;
//   - NOT RUNNABLE: something is missing, and the reason says what;
//   - INPUT: the project takes the number from the paper.
//
// Nothing here runs an algorithm: all numbers come out of package run, where the
// referee has seen every schedule, or were measured on a GPU ([datasets.Hardware]).
package figures
