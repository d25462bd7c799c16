package datasets

import (
	"strings"

	"miglab/harness/task"
)

// table4 is Table IV of the hierarchical paper, as printed: the programs by class. Those
// with a * are not trained on.
var table4 = []struct {
	class    task.Class
	programs string
}{
	{task.ComputeIntensive, "lavaMD huffman* hotspot3D hotspot* heartwall* bt_solver_A bt_solver_B bt_solver_C"},
	{task.MemoryIntensive, "lud_A lud_B lud_C* sp_solver_A sp_solver_B sp_solver_C randomaccess cfd* gaussian* stream"},
	{task.Unscalable, "kmeans dwt2d needle* pathfinder backprop* qs_Coral_P1 qs_Coral_P2 qs_NoFission* qs_NoCollisions"},
}

// publicKernels are the programs of Table IV that others measured on A100, by their names in
// the table [rodiniaA100]. Its LU is lud with one input. It is not known whether that is lud_A,
// lud_B or lud_C, so that none of them takes its times.
var publicKernels = map[string]string{
	"lavaMD": "LavaMD", "hotspot": "HotSpot", "heartwall": "HeartWall", "cfd": "CFD", "gaussian": "Gaussian",
	"needle": "NW", "pathfinder": "PathFinder", "backprop": "Backprop",
}

// table5 is Table V, as printed: the jobs of the paper's queues, Q1 to Q12.
var table5 = []string{
	// CI-dominant
	"huffman*, bt_solver_C, bt_solver_B, hotspot3D, heartwall*, lavaMD, lud_B, cfd*, sp_solver_B, pathfinder, needle*, qs_NoFission*",
	"bt_solver_C, heartwall*, lavaMD, huffman*, hotspot*, hotspot3D, cfd*, sp_solver_C, gaussian*, pathfinder, needle*, qs_Coral_P1",
	"huffman*, bt_solver_C, hotspot3D, hotspot*, heartwall*, lavaMD, lud_B, stream, sp_solver_C, qs_NoFission*, pathfinder, needle*",
	// MI-dominant
	"bt_solver_B, heartwall*, bt_solver_C, lud_B, gaussian*, sp_solver_B, cfd*, sp_solver_C, stream, qs_NoCollisions, pathfinder, qs_Coral_P2",
	"heartwall*, hotspot*, bt_solver_B, lud_B, gaussian*, randomaccess, stream, lud_C*, sp_solver_B, qs_Coral_P2, dwt2d, qs_Coral_P1",
	"bt_solver_C, huffman*, lavaMD, sp_solver_B, gaussian*, randomaccess, lud_C*, stream, cfd*, qs_NoFission*, needle*, qs_Coral_P1",
	// US-dominant
	"heartwall*, hotspot*, hotspot3D, gaussian*, stream, lud_B, pathfinder, qs_NoFission*, qs_Coral_P2, backprop*, qs_NoCollisions, dwt2d",
	"bt_solver_C, hotspot3D, lavaMD, stream, cfd*, lud_B, qs_Coral_P1, needle*, kmeans, qs_Coral_P2, qs_NoFission*, qs_NoCollisions",
	"lavaMD, hotspot3D, hotspot*, sp_solver_B, lud_C*, randomaccess, qs_Coral_P1, dwt2d, kmeans, needle*, qs_NoCollisions, qs_Coral_P2",
	// Balanced
	"lavaMD, huffman*, hotspot3D, bt_solver_C, lud_C*, lud_B, stream, sp_solver_C, qs_NoCollisions, needle*, pathfinder, qs_Coral_P1",
	"huffman*, hotspot3D, hotspot*, bt_solver_B, cfd*, lud_C*, stream, gaussian*, qs_Coral_P2, needle*, pathfinder, dwt2d",
	"lavaMD, hotspot*, huffman*, heartwall*, sp_solver_C, lud_C*, randomaccess, gaussian*, needle*, pathfinder, qs_NoCollisions, backprop*",
}

// unmarked removes the * from a printed name and reports whether there was one.
func unmarked(printed string) (name string, unseen bool) { return strings.CutSuffix(printed, "*") }
