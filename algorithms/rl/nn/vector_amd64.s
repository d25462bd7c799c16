// Products are rounded before they are added, as in Go: there is no fused multiply-add.

#include "textflag.h"

// func sum64(y, b, w *float32, terms *term, n int)
TEXT ·sum64(SB), NOSPLIT, $0-40
	MOVQ    y+0(FP), DI
	MOVQ    b+8(FP), DX
	MOVQ    w+16(FP), BX
	MOVQ    terms+24(FP), SI
	MOVQ    n+32(FP), CX
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
	MOVQ         0(SI), AX
	VBROADCASTSS 8(SI), Y8
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
	ADDQ         $16, SI
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

// func sum8(y, b, w *float32, terms *term, n int)
TEXT ·sum8(SB), NOSPLIT, $0-40
	MOVQ    y+0(FP), DI
	MOVQ    b+8(FP), DX
	MOVQ    w+16(FP), BX
	MOVQ    terms+24(FP), SI
	MOVQ    n+32(FP), CX
	VMOVUPS 0(DX), Y0
	TESTQ   CX, CX
	JZ      done8

loop8:
	MOVQ         0(SI), AX
	VBROADCASTSS 8(SI), Y8
	VMULPS       0(BX)(AX*4), Y8, Y9
	VADDPS       Y9, Y0, Y0
	ADDQ         $16, SI
	DECQ         CX
	JNZ          loop8

done8:
	VMOVUPS Y0, 0(DI)
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
