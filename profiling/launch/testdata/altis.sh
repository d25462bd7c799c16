#!/bin/sh
# Imitates Altis's programs: altis.sh HOW -s SIZE -m CSV. Like them, it writes the
# header only where the CSV is empty, and adds its rows.
how=$1 csv=$5
[ "$how" = nocsv ] && { echo "Warning: no metrics"; exit 0; }
[ "$how" = folder ] && { mkdir "$csv"; exit 0; }
[ "$how" = oom ] && { echo "euler3d.cu(42) : CUDA Runtime API error 2: out of memory." >&2; exit 255; }
[ -s "$csv" ] || echo "test, atts, units, median, mean, stddev, min, max, " >>"$csv"
{
	echo "dwt_parity, 192x192, N, 0.5, 0.5, 0, 0.5, 0.5, "
	echo "bfs_kernel_time, 1024V,7168E, sec, 0.25, 0.26, 0.01, 0.24, 0.3, "
	echo "bfs_rate, 1024V,7168E, GB/s, 12.5, 12.5, 0, 12.5, 12.5, "
	echo "Elapsedtime, ATOMICTYPE_CAS, seconds, 3, 3, 0, 3, 3, "
	echo "Elapsedtime, ATOMICTYPE_XOR, seconds, 0.125, 0.125, 0, 0.125, 0.125, "
	echo "failed_time, DP_Not_Supported, sec, N/A, N/A, N/A, N/A, N/A, "
	echo
} >>"$csv"
