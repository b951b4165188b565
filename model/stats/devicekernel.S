// SPDX-License-Identifier: GPL-3.0-or-later
// The text of the device's kernels, ended by a zero byte.
    .section .rodata
    .global telltale_device_kernels
telltale_device_kernels:
    .incbin "devicekernel.ptx"
    .byte 0
    .section .note.GNU-stack, "", @progbits
