// Package figures compares the printed numbers of papers with this project's measurements.
//
// Each paper is a sub-package that declares artefacts: the paper's tables, its figures, and the claims of its
// text. An artefact asks for results of cells ([Data]), and returns tables, figures, and the values of its
// claims under one or more readings ([Output]). Which cells a paper needs follows from that one declaration.
//
// Claims are data: claims.csv says what the paper prints, how far a value may lie from it where the default margin
// is wrong, and why it cannot be judged; script.csv says what the authors' public code gave when it was run, and
// causes.csv why claims deviate ([claim.Load]). conclusions.csv has the sentences and why they came out so,
// readings.csv says where each reading comes from, and terms.csv explains words ([Load]). A test compares the keys of
// claims with those of values, whatever hardware there is.
//
// Package verdict judges the values. Everything that was found is one [Manifest], from which
// claims.csv, the pages under results/, the site and the table in README.md are written.
//
// This package runs no algorithm. All measured numbers come from package run, whose referee has
// checked every schedule, or were measured on a GPU ([Data.Hardware]).
package figures
