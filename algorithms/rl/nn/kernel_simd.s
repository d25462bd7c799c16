//go:build goexperiment.simd && amd64

#include "textflag.h"

// ROW adds one element of a, which is broadcast, times a row of the panel to a row of sums.
#define ROW(element, low, high) \
	VBROADCASTSS element, Z18;     \
	VFMADD231PS  Z16, Z18, low;    \
	VFMADD231PS  Z17, Z18, high

// ROW8 does the same with a panel of half as wide vectors.
#define ROW8(element, x, low, high) \
	VBROADCASTSS element, x;       \
	VFMADD231PS  Y8, x, low;       \
	VFMADD231PS  Y9, x, high

// func tile8x2(c *float32, columns int, a *float32, row, column int, panel *float32, depth int, fresh bool)
//
// Z0 to Z15 are the sums: eight rows of two vectors. R8, R10, R11 and R12 are 1, 3, 5 and 7
// times the distance of two rows, first in c, then in a.
TEXT ·tile8x2(SB), NOSPLIT, $0-57
	CMPB ·hasAVX512(SB), $0
	JE   quarters
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

	// Without AVX-512: the four quarters of the tile, each of four rows of two vectors in Y0 to Y7. R9 has a bit for the
	// lower rows and one for the right columns.
quarters:
	XORQ R9, R9

quarter:
	MOVQ  c+0(FP), DI
	MOVQ  columns+8(FP), R8
	MOVQ  a+16(FP), SI
	MOVQ  row+24(FP), R11
	MOVQ  column+32(FP), BX
	MOVQ  panel+40(FP), DX
	MOVQ  depth+48(FP), CX
	SHLQ  $2, R8
	SHLQ  $2, R11
	SHLQ  $2, BX
	LEAQ  (R8)(R8*2), R10
	LEAQ  (R11)(R11*2), R12
	TESTQ $1, R9
	JZ    upper
	LEAQ  (DI)(R8*4), DI
	LEAQ  (SI)(R11*4), SI

upper:
	TESTQ $2, R9
	JZ    left
	ADDQ  $64, DI
	ADDQ  $64, DX

left:
	MOVB   fresh+56(FP), AX
	TESTB  AX, AX
	JZ     loadQuarter
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	JMP    loopQuarter

loadQuarter:
	VMOVUPS (DI), Y0
	VMOVUPS 32(DI), Y1
	VMOVUPS (DI)(R8*1), Y2
	VMOVUPS 32(DI)(R8*1), Y3
	VMOVUPS (DI)(R8*2), Y4
	VMOVUPS 32(DI)(R8*2), Y5
	VMOVUPS (DI)(R10*1), Y6
	VMOVUPS 32(DI)(R10*1), Y7

loopQuarter:
	VMOVUPS (DX), Y8
	VMOVUPS 32(DX), Y9
	ROW8((SI), Y10, Y0, Y1)
	ROW8((SI)(R11*1), Y11, Y2, Y3)
	ROW8((SI)(R11*2), Y12, Y4, Y5)
	ROW8((SI)(R12*1), Y13, Y6, Y7)
	ADDQ    BX, SI
	ADDQ    $128, DX
	DECQ    CX
	JNZ     loopQuarter

	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, (DI)(R8*1)
	VMOVUPS Y3, 32(DI)(R8*1)
	VMOVUPS Y4, (DI)(R8*2)
	VMOVUPS Y5, 32(DI)(R8*2)
	VMOVUPS Y6, (DI)(R10*1)
	VMOVUPS Y7, 32(DI)(R10*1)
	INCQ    R9
	CMPQ    R9, $4
	JNE     quarter
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
	MOVQ $2, R13
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
	CMPB ·hasAVX512(SB), $0
	JE   loopHalf

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

	// Without AVX-512: eight rows, then the other eight.
loopHalf:
	VMOVUPS     (SI), X0
	VMOVUPS     (SI)(R9*1), X1
	VMOVUPS     (SI)(R9*2), X2
	VMOVUPS     (SI)(R11*1), X3
	VINSERTF128 $1, (AX), Y0, Y0
	VINSERTF128 $1, (AX)(R9*1), Y1, Y1
	VINSERTF128 $1, (AX)(R9*2), Y2, Y2
	VINSERTF128 $1, (AX)(R11*1), Y3, Y3
	VUNPCKLPS   Y1, Y0, Y4
	VUNPCKHPS   Y1, Y0, Y5
	VUNPCKLPS   Y3, Y2, Y6
	VUNPCKHPS   Y3, Y2, Y7
	VUNPCKLPD   Y6, Y4, Y8
	VUNPCKHPD   Y6, Y4, Y9
	VUNPCKLPD   Y7, Y5, Y10
	VUNPCKHPD   Y7, Y5, Y11
	VMOVUPS     Y8, (DI)
	VMOVUPS     Y9, (DI)(R8*1)
	VMOVUPS     Y10, (DI)(R8*2)
	VMOVUPS     Y11, (DI)(R10*1)
	ADDQ        $16, SI
	ADDQ        $16, AX
	LEAQ        (DI)(R8*4), DI
	DECQ        CX
	JNZ         loopHalf
	MOVQ        to+0(FP), DI
	ADDQ        $32, DI
	MOVQ        BX, SI
	MOVQ        DX, AX
	MOVQ        blocks+32(FP), CX
	DECQ        R13
	JNZ         loopHalf
	VZEROUPPER
	RET

// func fuse64(y, w, values *float32, rows *int32, n int)
TEXT ·fuse64(SB), NOSPLIT, $0-40
	MOVQ    y+0(FP), DI
	MOVQ    w+8(FP), BX
	MOVQ    values+16(FP), SI
	MOVQ    rows+24(FP), R8
	MOVQ    n+32(FP), CX
	TESTQ   CX, CX
	JZ      done64
	VMOVUPS 0(DI), Y0
	VMOVUPS 32(DI), Y1
	VMOVUPS 64(DI), Y2
	VMOVUPS 96(DI), Y3
	VMOVUPS 128(DI), Y4
	VMOVUPS 160(DI), Y5
	VMOVUPS 192(DI), Y6
	VMOVUPS 224(DI), Y7

loop64:
	MOVL         0(R8), AX
	VBROADCASTSS 0(SI), Y8
	VFMADD231PS  0(BX)(AX*4), Y8, Y0
	VFMADD231PS  32(BX)(AX*4), Y8, Y1
	VFMADD231PS  64(BX)(AX*4), Y8, Y2
	VFMADD231PS  96(BX)(AX*4), Y8, Y3
	VFMADD231PS  128(BX)(AX*4), Y8, Y4
	VFMADD231PS  160(BX)(AX*4), Y8, Y5
	VFMADD231PS  192(BX)(AX*4), Y8, Y6
	VFMADD231PS  224(BX)(AX*4), Y8, Y7
	ADDQ         $4, SI
	ADDQ         $4, R8
	DECQ         CX
	JNZ          loop64

	VMOVUPS Y0, 0(DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	VMOVUPS Y4, 128(DI)
	VMOVUPS Y5, 160(DI)
	VMOVUPS Y6, 192(DI)
	VMOVUPS Y7, 224(DI)
	VZEROUPPER

done64:
	RET

// func fuse8(y, w, values *float32, rows *int32, n int)
TEXT ·fuse8(SB), NOSPLIT, $0-40
	MOVQ    y+0(FP), DI
	MOVQ    w+8(FP), BX
	MOVQ    values+16(FP), SI
	MOVQ    rows+24(FP), R8
	MOVQ    n+32(FP), CX
	TESTQ   CX, CX
	JZ      done8
	VMOVUPS 0(DI), Y0

loop8:
	MOVL         0(R8), AX
	VBROADCASTSS 0(SI), Y8
	VFMADD231PS  0(BX)(AX*4), Y8, Y0
	ADDQ         $4, SI
	ADDQ         $4, R8
	DECQ         CX
	JNZ          loop8

	VMOVUPS Y0, 0(DI)
	VZEROUPPER

done8:
	RET

// func fuse1(y, w, values *float32, rows *int32, n int)
TEXT ·fuse1(SB), NOSPLIT, $0-40
	MOVQ   y+0(FP), DI
	MOVQ   w+8(FP), BX
	MOVQ   values+16(FP), SI
	MOVQ   rows+24(FP), R8
	MOVQ   n+32(FP), CX
	TESTQ  CX, CX
	JZ     done1
	VMOVSS 0(DI), X0

loop1:
	MOVL        0(R8), AX
	VMOVSS      0(SI), X8
	VFMADD231SS 0(BX)(AX*4), X8, X0
	ADDQ        $4, SI
	ADDQ        $4, R8
	DECQ        CX
	JNZ         loop1

	VMOVSS X0, 0(DI)

done1:
	RET
