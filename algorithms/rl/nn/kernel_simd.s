//go:build goexperiment.simd && amd64

#include "textflag.h"

// ROW adds one element of a, which is broadcast, times a row of the panel to a row of sums.
#define ROW(element, low, high) \
	VBROADCASTSS element, Z18;     \
	VFMADD231PS  Z16, Z18, low;    \
	VFMADD231PS  Z17, Z18, high

// func tile8x2(c *float32, columns int, a *float32, row, column int, panel *float32, depth int)
//
// Z0 to Z15 are the sums: eight rows of two vectors. R8, R10, R11 and R12 are 1, 3, 5 and 7
// times the distance of two rows, first in c, then in a.
TEXT ·tile8x2(SB), NOSPLIT, $0-56
	MOVQ c+0(FP), DI
	MOVQ columns+8(FP), R8
	MOVQ a+16(FP), SI
	MOVQ column+32(FP), BX
	MOVQ panel+40(FP), DX
	MOVQ depth+48(FP), CX
	SHLQ $2, R8
	SHLQ $2, BX
	LEAQ (R8)(R8*2), R10
	LEAQ (R8)(R8*4), R11
	LEAQ (R10)(R8*4), R12

	VMOVUPS (DI), Z0
	VMOVUPS 64(DI), Z1
	VMOVUPS (DI)(R8*1), Z2
	VMOVUPS 64(DI)(R8*1), Z3
	VMOVUPS (DI)(R8*2), Z4
	VMOVUPS 64(DI)(R8*2), Z5
	VMOVUPS (DI)(R10*1), Z6
	VMOVUPS 64(DI)(R10*1), Z7
	VMOVUPS (DI)(R8*4), Z8
	VMOVUPS 64(DI)(R8*4), Z9
	VMOVUPS (DI)(R11*1), Z10
	VMOVUPS 64(DI)(R11*1), Z11
	VMOVUPS (DI)(R10*2), Z12
	VMOVUPS 64(DI)(R10*2), Z13
	VMOVUPS (DI)(R12*1), Z14
	VMOVUPS 64(DI)(R12*1), Z15

	MOVQ row+24(FP), R8
	SHLQ $2, R8
	LEAQ (R8)(R8*2), R10
	LEAQ (R8)(R8*4), R11
	LEAQ (R10)(R8*4), R12

loop:
	VMOVUPS (DX), Z16
	VMOVUPS 64(DX), Z17
	ROW((SI), Z0, Z1)
	ROW((SI)(R8*1), Z2, Z3)
	ROW((SI)(R8*2), Z4, Z5)
	ROW((SI)(R10*1), Z6, Z7)
	ROW((SI)(R8*4), Z8, Z9)
	ROW((SI)(R11*1), Z10, Z11)
	ROW((SI)(R10*2), Z12, Z13)
	ROW((SI)(R12*1), Z14, Z15)
	ADDQ    BX, SI
	ADDQ    $128, DX
	DECQ    CX
	JNZ     loop

	MOVQ columns+8(FP), R8
	SHLQ $2, R8
	LEAQ (R8)(R8*2), R10
	LEAQ (R8)(R8*4), R11
	LEAQ (R10)(R8*4), R12

	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	VMOVUPS Z2, (DI)(R8*1)
	VMOVUPS Z3, 64(DI)(R8*1)
	VMOVUPS Z4, (DI)(R8*2)
	VMOVUPS Z5, 64(DI)(R8*2)
	VMOVUPS Z6, (DI)(R10*1)
	VMOVUPS Z7, 64(DI)(R10*1)
	VMOVUPS Z8, (DI)(R8*4)
	VMOVUPS Z9, 64(DI)(R8*4)
	VMOVUPS Z10, (DI)(R11*1)
	VMOVUPS Z11, 64(DI)(R11*1)
	VMOVUPS Z12, (DI)(R10*2)
	VMOVUPS Z13, 64(DI)(R10*2)
	VMOVUPS Z14, (DI)(R12*1)
	VMOVUPS Z15, 64(DI)(R12*1)
	VZEROUPPER
	RET
