"""What the default profile of containers refuses. A test refuses it to a process that it starts (as
preexec_fn)."""
import ctypes
import os
import platform


def refuse_process_vm_readv():
    """Installs a seccomp filter in this process: process_vm_readv fails with EPERM, everything else is
    allowed."""
    number = {"x86_64": 310, "aarch64": 270}[platform.machine()]

    class Instruction(ctypes.Structure):
        _fields_ = [("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8),
                    ("value", ctypes.c_uint32)]

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(Instruction))]

    # BPF codes, SECCOMP_RET_ALLOW, and SECCOMP_RET_ERRNO | EPERM.
    load, equal, answer, allow, refuse = 0x20, 0x15, 0x06, 0x7FFF0000, 0x00050001
    code = (Instruction * 4)((load, 0, 0, 0), (equal, 0, 1, number), (answer, 0, 0, refuse),
                             (answer, 0, 0, allow))
    libc = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, set_seccomp, filter_mode = 38, 22, 2
    assert libc.prctl(no_new_privileges, 1, 0, 0, 0) == 0
    program = Program(4, ctypes.cast(code, ctypes.POINTER(Instruction)))
    assert libc.prctl(set_seccomp, filter_mode, ctypes.byref(program), 0, 0) == 0, (
        os.strerror(ctypes.get_errno()))
