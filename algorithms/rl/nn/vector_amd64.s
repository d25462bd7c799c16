// Products are rounded before they are added, as in Go: there is no fused multiply-add.

#include "textflag.h"

DATA ·sixteen+0(SB)/4, $0
DATA ·sixteen+4(SB)/4, $1
DATA ·sixteen+8(SB)/4, $2
DATA ·sixteen+12(SB)/4, $3
DATA ·sixteen+16(SB)/4, $4
DATA ·sixteen+20(SB)/4, $5
DATA ·sixteen+24(SB)/4, $6
DATA ·sixteen+28(SB)/4, $7
DATA ·sixteen+32(SB)/4, $8
DATA ·sixteen+36(SB)/4, $9
DATA ·sixteen+40(SB)/4, $10
DATA ·sixteen+44(SB)/4, $11
DATA ·sixteen+48(SB)/4, $12
DATA ·sixteen+52(SB)/4, $13
DATA ·sixteen+56(SB)/4, $14
DATA ·sixteen+60(SB)/4, $15
GLOBL ·sixteen(SB), RODATA|NOPTR, $64

// func sum64(y, b, w, values *float32, rows *int32, n int)
TEXT ·sum64(SB), NOSPLIT, $0-48
	MOVQ    y+0(FP), DI
	MOVQ    b+8(FP), DX
	MOVQ    w+16(FP), BX
	MOVQ    values+24(FP), SI
	MOVQ    rows+32(FP), R8
	MOVQ    n+40(FP), CX
	VMOVUPS 0(DX), Y0
	VMOVUPS 32(DX), Y1
	VMOVUPS 64(DX), Y2
	VMOVUPS 96(DX), Y3
	VMOVUPS 128(DX), Y4
	VMOVUPS 160(DX), Y5
	VMOVUPS 192(DX), Y6
	VMOVUPS 224(DX), Y7
	TESTQ   CX, CX
	JZ      done64

loop64:
	MOVL         0(R8), AX
	VBROADCASTSS 0(SI), Y8
	VMULPS       0(BX)(AX*4), Y8, Y9
	VMULPS       32(BX)(AX*4), Y8, Y10
	VMULPS       64(BX)(AX*4), Y8, Y11
	VMULPS       96(BX)(AX*4), Y8, Y12
	VADDPS       Y9, Y0, Y0
	VADDPS       Y10, Y1, Y1
	VADDPS       Y11, Y2, Y2
	VADDPS       Y12, Y3, Y3
	VMULPS       128(BX)(AX*4), Y8, Y9
	VMULPS       160(BX)(AX*4), Y8, Y10
	VMULPS       192(BX)(AX*4), Y8, Y11
	VMULPS       224(BX)(AX*4), Y8, Y12
	VADDPS       Y9, Y4, Y4
	VADDPS       Y10, Y5, Y5
	VADDPS       Y11, Y6, Y6
	VADDPS       Y12, Y7, Y7
	ADDQ         $4, SI
	ADDQ         $4, R8
	DECQ         CX
	JNZ          loop64

done64:
	VMOVUPS Y0, 0(DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	VMOVUPS Y4, 128(DI)
	VMOVUPS Y5, 160(DI)
	VMOVUPS Y6, 192(DI)
	VMOVUPS Y7, 224(DI)
	VZEROUPPER
	RET

// func sum8(y, b, w, values *float32, rows *int32, n int)
TEXT ·sum8(SB), NOSPLIT, $0-48
	MOVQ    y+0(FP), DI
	MOVQ    b+8(FP), DX
	MOVQ    w+16(FP), BX
	MOVQ    values+24(FP), SI
	MOVQ    rows+32(FP), R8
	MOVQ    n+40(FP), CX
	VMOVUPS 0(DX), Y0
	TESTQ   CX, CX
	JZ      done8

loop8:
	MOVL         0(R8), AX
	VBROADCASTSS 0(SI), Y8
	VMULPS       0(BX)(AX*4), Y8, Y9
	VADDPS       Y9, Y0, Y0
	ADDQ         $4, SI
	ADDQ         $4, R8
	DECQ         CX
	JNZ          loop8

done8:
	VMOVUPS Y0, 0(DI)
	VZEROUPPER
	RET

// The terms of eight vectors, at an offset from where columns begin.
#define LOAD8(from, s0, s1, s2, s3, s4, s5, s6, s7) \
	VMOVUPS from+0(DX), s0; \
	VMOVUPS from+64(DX), s1; \
	VMOVUPS from+128(DX), s2; \
	VMOVUPS from+192(DX), s3; \
	VMOVUPS from+256(DX), s4; \
	VMOVUPS from+320(DX), s5; \
	VMOVUPS from+384(DX), s6; \
	VMOVUPS from+448(DX), s7

#define ADD8(from, s0, s1, s2, s3, s4, s5, s6, s7) \
	VMULPS from+0(BX)(AX*4), Z16, Z17; \
	VMULPS from+64(BX)(AX*4), Z16, Z18; \
	VMULPS from+128(BX)(AX*4), Z16, Z19; \
	VMULPS from+192(BX)(AX*4), Z16, Z20; \
	VMULPS from+256(BX)(AX*4), Z16, Z21; \
	VMULPS from+320(BX)(AX*4), Z16, Z22; \
	VMULPS from+384(BX)(AX*4), Z16, Z23; \
	VMULPS from+448(BX)(AX*4), Z16, Z24; \
	VADDPS Z17, s0, s0; \
	VADDPS Z18, s1, s1; \
	VADDPS Z19, s2, s2; \
	VADDPS Z20, s3, s3; \
	VADDPS Z21, s4, s4; \
	VADDPS Z22, s5, s5; \
	VADDPS Z23, s6, s6; \
	VADDPS Z24, s7, s7

#define STORE8(to, s0, s1, s2, s3, s4, s5, s6, s7) \
	VMOVUPS s0, to+0(DI); \
	VMOVUPS s1, to+64(DI); \
	VMOVUPS s2, to+128(DI); \
	VMOVUPS s3, to+192(DI); \
	VMOVUPS s4, to+256(DI); \
	VMOVUPS s5, to+320(DI); \
	VMOVUPS s6, to+384(DI); \
	VMOVUPS s7, to+448(DI)

// func sum256(y, b, w, values *float32, rows *int32, n int)
TEXT ·sum256(SB), NOSPLIT, $0-48
	MOVQ  y+0(FP), DI
	MOVQ  b+8(FP), DX
	MOVQ  w+16(FP), BX
	MOVQ  values+24(FP), SI
	MOVQ  rows+32(FP), R8
	MOVQ  n+40(FP), CX
	LOAD8(0, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	LOAD8(512, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15)
	TESTQ CX, CX
	JZ    done256

loop256:
	MOVL         0(R8), AX
	VBROADCASTSS 0(SI), Z16
	ADD8(0, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	ADD8(512, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15)
	ADDQ         $4, SI
	ADDQ         $4, R8
	DECQ         CX
	JNZ          loop256

done256:
	STORE8(0, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	STORE8(512, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15)
	VZEROUPPER
	RET

// func sum128(y, b, w, values *float32, rows *int32, n int)
TEXT ·sum128(SB), NOSPLIT, $0-48
	MOVQ  y+0(FP), DI
	MOVQ  b+8(FP), DX
	MOVQ  w+16(FP), BX
	MOVQ  values+24(FP), SI
	MOVQ  rows+32(FP), R8
	MOVQ  n+40(FP), CX
	LOAD8(0, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	TESTQ CX, CX
	JZ    done128

loop128:
	MOVL         0(R8), AX
	VBROADCASTSS 0(SI), Z16
	ADD8(0, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	ADDQ         $4, SI
	ADDQ         $4, R8
	DECQ         CX
	JNZ          loop128

done128:
	STORE8(0, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	VZEROUPPER
	RET

// func sumMasked(y, b, w, values *float32, rows *int32, n int, mask uint64)
TEXT ·sumMasked(SB), NOSPLIT, $0-56
	MOVQ      y+0(FP), DI
	MOVQ      b+8(FP), DX
	MOVQ      w+16(FP), BX
	MOVQ      values+24(FP), SI
	MOVQ      rows+32(FP), R8
	MOVQ      n+40(FP), CX
	MOVQ      mask+48(FP), AX
	KMOVW     AX, K1
	SHRQ      $16, AX
	KMOVW     AX, K2
	SHRQ      $16, AX
	KMOVW     AX, K3
	SHRQ      $16, AX
	KMOVW     AX, K4
	VMOVUPS.Z 0(DX), K1, Z0
	VMOVUPS.Z 64(DX), K2, Z1
	VMOVUPS.Z 128(DX), K3, Z2
	VMOVUPS.Z 192(DX), K4, Z3
	TESTQ     CX, CX
	JZ        doneMasked

loopMasked:
	MOVL         0(R8), AX
	VBROADCASTSS 0(SI), Z16
	VMULPS.Z     0(BX)(AX*4), Z16, K1, Z17
	VMULPS.Z     64(BX)(AX*4), Z16, K2, Z18
	VMULPS.Z     128(BX)(AX*4), Z16, K3, Z19
	VMULPS.Z     192(BX)(AX*4), Z16, K4, Z20
	VADDPS       Z17, Z0, Z0
	VADDPS       Z18, Z1, Z1
	VADDPS       Z19, Z2, Z2
	VADDPS       Z20, Z3, Z3
	ADDQ         $4, SI
	ADDQ         $4, R8
	DECQ         CX
	JNZ          loopMasked

doneMasked:
	VMOVUPS Z0, K1, 0(DI)
	VMOVUPS Z1, K2, 64(DI)
	VMOVUPS Z2, K3, 128(DI)
	VMOVUPS Z3, K4, 192(DI)
	VZEROUPPER
	RET

// A row's element of x times four vectors of w, which are in Z16 to Z19.
#define ADDROW(x, s0, s1, s2, s3) \
	VBROADCASTSS (x)(AX*4), Z20; \
	VMULPS Z16, Z20, Z21; \
	VMULPS Z17, Z20, Z22; \
	VMULPS Z18, Z20, Z23; \
	VMULPS Z19, Z20, Z24; \
	VADDPS Z21, s0, s0; \
	VADDPS Z22, s1, s1; \
	VADDPS Z23, s2, s2; \
	VADDPS Z24, s3, s3

#define STOREROW(row, s0, s1, s2, s3) \
	MOVQ row(DI), R8; \
	VMOVUPS s0, 0(R8); \
	VMOVUPS s1, 64(R8); \
	VMOVUPS s2, 128(R8); \
	VMOVUPS s3, 192(R8)

// func sumRows(y, x *[4]*float32, b, w *float32, in, out int)
TEXT ·sumRows(SB), NOSPLIT, $0-48
	MOVQ    y+0(FP), DI
	MOVQ    x+8(FP), SI
	MOVQ    b+16(FP), DX
	MOVQ    w+24(FP), BX
	MOVQ    in+32(FP), CX
	MOVQ    out+40(FP), R12
	SHLQ    $2, R12
	MOVQ    0(SI), R8
	MOVQ    8(SI), R9
	MOVQ    16(SI), R10
	MOVQ    24(SI), R11
	XORQ    AX, AX
	VMOVUPS 0(DX), Z0
	VMOVUPS 64(DX), Z1
	VMOVUPS 128(DX), Z2
	VMOVUPS 192(DX), Z3
	VMOVAPS Z0, Z4
	VMOVAPS Z1, Z5
	VMOVAPS Z2, Z6
	VMOVAPS Z3, Z7
	VMOVAPS Z0, Z8
	VMOVAPS Z1, Z9
	VMOVAPS Z2, Z10
	VMOVAPS Z3, Z11
	VMOVAPS Z0, Z12
	VMOVAPS Z1, Z13
	VMOVAPS Z2, Z14
	VMOVAPS Z3, Z15

loopRows:
	VMOVUPS 0(BX), Z16
	VMOVUPS 64(BX), Z17
	VMOVUPS 128(BX), Z18
	VMOVUPS 192(BX), Z19
	ADDROW(R8, Z0, Z1, Z2, Z3)
	ADDROW(R9, Z4, Z5, Z6, Z7)
	ADDROW(R10, Z8, Z9, Z10, Z11)
	ADDROW(R11, Z12, Z13, Z14, Z15)
	ADDQ    R12, BX
	INCQ    AX
	CMPQ    AX, CX
	JLT     loopRows

	STOREROW(0, Z0, Z1, Z2, Z3)
	STOREROW(8, Z4, Z5, Z6, Z7)
	STOREROW(16, Z8, Z9, Z10, Z11)
	STOREROW(24, Z12, Z13, Z14, Z15)
	VZEROUPPER
	RET

// func compress(values *float32, rows *int32, x *float32, n, stride int) int
//
// Z0 has the rows of 16 elements, and Z1 what they grow by.
TEXT ·compress(SB), NOSPLIT, $0-48
	MOVQ         values+0(FP), DI
	MOVQ         rows+8(FP), R8
	MOVQ         x+16(FP), SI
	MOVQ         n+24(FP), CX
	MOVQ         stride+32(FP), AX
	VPBROADCASTD AX, Z1
	VPMULLD      ·sixteen(SB), Z1, Z0
	VPSLLD       $4, Z1, Z1
	VPXORD       Z2, Z2, Z2
	MOVQ         DI, DX
	MOVL         $0xFFFF, AX
	KMOVW        AX, K1

loopCompress:
	CMPQ CX, $16
	JGE  full
	MOVL $1, AX
	SHLL CX, AX
	DECL AX
	KMOVW AX, K1

full:
	VMOVUPS.Z   0(SI), K1, Z3
	VCMPPS      $4, Z2, Z3, K1, K2
	VCOMPRESSPS Z3, K2, Z4
	VPCOMPRESSD Z0, K2, Z5
	VMOVUPS     Z4, 0(DI)
	VMOVDQU32   Z5, 0(R8)
	KMOVW       K2, AX
	POPCNTL     AX, AX
	LEAQ        0(DI)(AX*4), DI
	LEAQ        0(R8)(AX*4), R8
	VPADDD      Z1, Z0, Z0
	ADDQ        $64, SI
	SUBQ        $16, CX
	JG          loopCompress
	SUBQ        DX, DI
	SHRQ        $2, DI
	MOVQ        DI, ret+40(FP)
	VZEROUPPER
	RET

// func tanh8(y *float32, n int, constants *float32)
TEXT ·tanh8(SB), NOSPLIT, $0-24
	MOVQ         y+0(FP), DI
	MOVQ         n+8(FP), CX
	MOVQ         constants+16(FP), SI
	VBROADCASTSS 0(SI), Y3
	VBROADCASTSS 4(SI), Y4
	VBROADCASTSS 8(SI), Y5
	VBROADCASTSS 12(SI), Y6
	VBROADCASTSS 16(SI), Y7
	VBROADCASTSS 20(SI), Y8
	VBROADCASTSS 24(SI), Y9
	VBROADCASTSS 28(SI), Y10
	VBROADCASTSS 32(SI), Y11
	VBROADCASTSS 36(SI), Y12
	VBROADCASTSS 40(SI), Y13
	VBROADCASTSS 44(SI), Y14
	VBROADCASTSS 48(SI), Y15

loopTanh:
	// Both return the element of y where it is not a number.
	VMOVUPS 0(DI), Y0
	VMINPS  Y0, Y3, Y0
	VMAXPS  Y0, Y4, Y0
	VMULPS  Y0, Y0, Y1

	// The numerator.
	VMULPS Y1, Y5, Y2
	VADDPS Y2, Y6, Y2
	VMULPS Y1, Y2, Y2
	VADDPS Y2, Y7, Y2
	VMULPS Y1, Y2, Y2
	VADDPS Y2, Y8, Y2
	VMULPS Y1, Y2, Y2
	VADDPS Y2, Y9, Y2
	VMULPS Y1, Y2, Y2
	VADDPS Y2, Y10, Y2
	VMULPS Y1, Y2, Y2
	VADDPS Y2, Y11, Y2
	VMULPS Y0, Y2, Y2

	// The denominator.
	VMULPS Y1, Y12, Y0
	VADDPS Y0, Y13, Y0
	VMULPS Y1, Y0, Y0
	VADDPS Y0, Y14, Y0
	VMULPS Y1, Y0, Y0
	VADDPS Y0, Y15, Y0

	VDIVPS  Y0, Y2, Y2
	VMOVUPS Y2, 0(DI)
	ADDQ    $32, DI
	SUBQ    $8, CX
	JNZ     loopTanh
	VZEROUPPER
	RET

// func tanh16(y *float32, n int, constants *float32)
TEXT ·tanh16(SB), NOSPLIT, $0-24
	MOVQ         y+0(FP), DI
	MOVQ         n+8(FP), CX
	MOVQ         constants+16(FP), SI
	VBROADCASTSS 0(SI), Z3
	VBROADCASTSS 4(SI), Z4
	VBROADCASTSS 8(SI), Z5
	VBROADCASTSS 12(SI), Z6
	VBROADCASTSS 16(SI), Z7
	VBROADCASTSS 20(SI), Z8
	VBROADCASTSS 24(SI), Z9
	VBROADCASTSS 28(SI), Z10
	VBROADCASTSS 32(SI), Z11
	VBROADCASTSS 36(SI), Z12
	VBROADCASTSS 40(SI), Z13
	VBROADCASTSS 44(SI), Z14
	VBROADCASTSS 48(SI), Z15

loopTanh16:
	// Both return the element of y where it is not a number.
	VMOVUPS 0(DI), Z0
	VMINPS  Z0, Z3, Z0
	VMAXPS  Z0, Z4, Z0
	VMULPS  Z0, Z0, Z1

	// The numerator.
	VMULPS Z1, Z5, Z2
	VADDPS Z2, Z6, Z2
	VMULPS Z1, Z2, Z2
	VADDPS Z2, Z7, Z2
	VMULPS Z1, Z2, Z2
	VADDPS Z2, Z8, Z2
	VMULPS Z1, Z2, Z2
	VADDPS Z2, Z9, Z2
	VMULPS Z1, Z2, Z2
	VADDPS Z2, Z10, Z2
	VMULPS Z1, Z2, Z2
	VADDPS Z2, Z11, Z2
	VMULPS Z0, Z2, Z2

	// The denominator.
	VMULPS Z1, Z12, Z0
	VADDPS Z0, Z13, Z0
	VMULPS Z1, Z0, Z0
	VADDPS Z0, Z14, Z0
	VMULPS Z1, Z0, Z0
	VADDPS Z0, Z15, Z0

	VDIVPS  Z0, Z2, Z2
	VMOVUPS Z2, 0(DI)
	ADDQ    $64, DI
	SUBQ    $16, CX
	JNZ     loopTanh16
	VZEROUPPER
	RET

// func upperHalves() bool
TEXT ·upperHalves(SB), NOSPLIT, $0-1
	VORPS        Y1, Y0, Y0
	VORPS        Y2, Y0, Y0
	VORPS        Y3, Y0, Y0
	VORPS        Y4, Y0, Y0
	VORPS        Y5, Y0, Y0
	VORPS        Y6, Y0, Y0
	VORPS        Y7, Y0, Y0
	VORPS        Y8, Y0, Y0
	VORPS        Y9, Y0, Y0
	VORPS        Y10, Y0, Y0
	VORPS        Y11, Y0, Y0
	VORPS        Y12, Y0, Y0
	VORPS        Y13, Y0, Y0
	VORPS        Y14, Y0, Y0
	VORPS        Y15, Y0, Y0
	VEXTRACTF128 $1, Y0, X0
	VPTEST       X0, X0
	SETNE        ret+0(FP)
	VZEROUPPER
	RET
