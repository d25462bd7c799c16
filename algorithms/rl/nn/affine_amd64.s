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

// func sum16(y, b, w *float32, terms *term, n int)
TEXT ·sum16(SB), NOSPLIT, $0-40
	MOVQ    y+0(FP), DI
	MOVQ    b+8(FP), DX
	MOVQ    w+16(FP), BX
	MOVQ    terms+24(FP), SI
	MOVQ    n+32(FP), CX
	VMOVUPS 0(DX), Y0
	VMOVUPS 32(DX), Y1
	TESTQ   CX, CX
	JZ      done16

loop16:
	MOVQ         0(SI), AX
	VBROADCASTSS 8(SI), Y8
	VMULPS       0(BX)(AX*4), Y8, Y9
	VMULPS       32(BX)(AX*4), Y8, Y10
	VADDPS       Y9, Y0, Y0
	VADDPS       Y10, Y1, Y1
	ADDQ         $16, SI
	DECQ         CX
	JNZ          loop16

done16:
	VMOVUPS Y0, 0(DI)
	VMOVUPS Y1, 32(DI)
	VZEROUPPER
	RET
