//go:build goexperiment.simd && amd64

#include "textflag.h"

// ROW adds one element of a, which is broadcast, times a row of the panel to a row of sums.
#define ROW(element, low, high) \
	VBROADCASTSS element, Z18;     \
	VFMADD231PS  Z16, Z18, low;    \
	VFMADD231PS  Z17, Z18, high

// func tile8x2(c *float32, columns int, a *float32, row, column int, panel *float32, depth int, fresh bool)
//
// Z0 to Z15 are the sums: eight rows of two vectors. R8, R10, R11 and R12 are 1, 3, 5 and 7
// times the distance of two rows, first in c, then in a.
TEXT ·tile8x2(SB), NOSPLIT, $0-57
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

	MOVB fresh+56(FP), AX
	TESTB AX, AX
	JZ   load
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	VPXORD Z4, Z4, Z4
	VPXORD Z5, Z5, Z5
	VPXORD Z6, Z6, Z6
	VPXORD Z7, Z7, Z7
	VPXORD Z8, Z8, Z8
	VPXORD Z9, Z9, Z9
	VPXORD Z10, Z10, Z10
	VPXORD Z11, Z11, Z11
	VPXORD Z12, Z12, Z12
	VPXORD Z13, Z13, Z13
	VPXORD Z14, Z14, Z14
	VPXORD Z15, Z15, Z15
	JMP  loaded

load:
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

loaded:
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

// FUSE adds a term's value, which is in Z16, times four vectors of its row.
#define FUSE(from, s0, s1, s2, s3) \
	VFMADD231PS from+0(BX)(AX*4), Z16, s0;   \
	VFMADD231PS from+64(BX)(AX*4), Z16, s1;  \
	VFMADD231PS from+128(BX)(AX*4), Z16, s2; \
	VFMADD231PS from+192(BX)(AX*4), Z16, s3

#define LOAD4(from, s0, s1, s2, s3) \
	VMOVUPS from+0(DI), s0;   \
	VMOVUPS from+64(DI), s1;  \
	VMOVUPS from+128(DI), s2; \
	VMOVUPS from+192(DI), s3

#define STORE4(to, s0, s1, s2, s3) \
	VMOVUPS s0, to+0(DI);   \
	VMOVUPS s1, to+64(DI);  \
	VMOVUPS s2, to+128(DI); \
	VMOVUPS s3, to+192(DI)

// func fuse256(y, w, values *float32, rows *int32, n int)
TEXT ·fuse256(SB), NOSPLIT, $0-40
	MOVQ y+0(FP), DI
	MOVQ w+8(FP), BX
	MOVQ values+16(FP), SI
	MOVQ rows+24(FP), R8
	MOVQ n+32(FP), CX
	TESTQ CX, CX
	JZ   done256
	LOAD4(0, Z0, Z1, Z2, Z3)
	LOAD4(256, Z4, Z5, Z6, Z7)
	LOAD4(512, Z8, Z9, Z10, Z11)
	LOAD4(768, Z12, Z13, Z14, Z15)

loop256:
	MOVL         0(R8), AX
	VBROADCASTSS 0(SI), Z16
	FUSE(0, Z0, Z1, Z2, Z3)
	FUSE(256, Z4, Z5, Z6, Z7)
	FUSE(512, Z8, Z9, Z10, Z11)
	FUSE(768, Z12, Z13, Z14, Z15)
	ADDQ         $4, SI
	ADDQ         $4, R8
	DECQ         CX
	JNZ          loop256

	STORE4(0, Z0, Z1, Z2, Z3)
	STORE4(256, Z4, Z5, Z6, Z7)
	STORE4(512, Z8, Z9, Z10, Z11)
	STORE4(768, Z12, Z13, Z14, Z15)
	VZEROUPPER

done256:
	RET

// func fuseMasked(y, w, values *float32, rows *int32, n int, mask uint64)
TEXT ·fuseMasked(SB), NOSPLIT, $0-48
	MOVQ      y+0(FP), DI
	MOVQ      w+8(FP), BX
	MOVQ      values+16(FP), SI
	MOVQ      rows+24(FP), R8
	MOVQ      n+32(FP), CX
	MOVQ      mask+40(FP), AX
	TESTQ     CX, CX
	JZ        doneMasked
	KMOVW     AX, K1
	SHRQ      $16, AX
	KMOVW     AX, K2
	SHRQ      $16, AX
	KMOVW     AX, K3
	SHRQ      $16, AX
	KMOVW     AX, K4
	VMOVUPS.Z 0(DI), K1, Z0
	VMOVUPS.Z 64(DI), K2, Z1
	VMOVUPS.Z 128(DI), K3, Z2
	VMOVUPS.Z 192(DI), K4, Z3

loopMasked:
	MOVL         0(R8), AX
	VBROADCASTSS 0(SI), Z16
	VFMADD231PS  0(BX)(AX*4), Z16, K1, Z0
	VFMADD231PS  64(BX)(AX*4), Z16, K2, Z1
	VFMADD231PS  128(BX)(AX*4), Z16, K3, Z2
	VFMADD231PS  192(BX)(AX*4), Z16, K4, Z3
	ADDQ         $4, SI
	ADDQ         $4, R8
	DECQ         CX
	JNZ          loopMasked

	VMOVUPS Z0, K1, 0(DI)
	VMOVUPS Z1, K2, 64(DI)
	VMOVUPS Z2, K3, 128(DI)
	VMOVUPS Z3, K4, 192(DI)
	VZEROUPPER

doneMasked:
	RET

// FOUR loads four elements from four places.
#define FOUR(first, second, third, fourth, x, z) \
	VMOVUPS      first, x;          \
	VINSERTF32X4 $1, second, z, z; \
	VINSERTF32X4 $2, third, z, z;  \
	VINSERTF32X4 $3, fourth, z, z

// func transpose16(to *float32, toStride int, from *float32, fromStride, blocks int)
TEXT ·transpose16(SB), NOSPLIT, $0-40
	MOVQ to+0(FP), DI
	MOVQ toStride+8(FP), R8
	MOVQ from+16(FP), SI
	MOVQ fromStride+24(FP), R9
	MOVQ blocks+32(FP), CX
	SHLQ $2, R8
	SHLQ $2, R9
	LEAQ (R8)(R8*2), R10
	LEAQ (R9)(R9*2), R11
	LEAQ (SI)(R9*4), AX
	LEAQ (SI)(R9*8), BX
	LEAQ (AX)(R9*8), DX

loopTranspose:
	FOUR((SI), (AX), (BX), (DX), X0, Z0)
	FOUR((SI)(R9*1), (AX)(R9*1), (BX)(R9*1), (DX)(R9*1), X1, Z1)
	FOUR((SI)(R9*2), (AX)(R9*2), (BX)(R9*2), (DX)(R9*2), X2, Z2)
	FOUR((SI)(R11*1), (AX)(R11*1), (BX)(R11*1), (DX)(R11*1), X3, Z3)
	VUNPCKLPS Z1, Z0, Z4
	VUNPCKHPS Z1, Z0, Z5
	VUNPCKLPS Z3, Z2, Z6
	VUNPCKHPS Z3, Z2, Z7
	VUNPCKLPD Z6, Z4, Z8
	VUNPCKHPD Z6, Z4, Z9
	VUNPCKLPD Z7, Z5, Z10
	VUNPCKHPD Z7, Z5, Z11
	VMOVUPS   Z8, (DI)
	VMOVUPS   Z9, (DI)(R8*1)
	VMOVUPS   Z10, (DI)(R8*2)
	VMOVUPS   Z11, (DI)(R10*1)
	ADDQ      $16, SI
	ADDQ      $16, AX
	ADDQ      $16, BX
	ADDQ      $16, DX
	LEAQ      (DI)(R8*4), DI
	DECQ      CX
	JNZ       loopTranspose
	VZEROUPPER
	RET
