"""A call with a wrong argument must give the standard's error class and an error message.

The message must name the call, its arguments, the rank, the host and the reason.
"""
import pathlib
import re

import pytest

HEADER = (pathlib.Path(__file__).resolve().parents[2] / "include" / "mpi.h").read_text()

SEND = (r"MPI_Send\(buf=(0x\w+|NULL), count={count}, datatype={datatype}, dest={dest}, tag={tag}, "
        r"comm={comm}\)")


def send(count="1", datatype="MPI_INT", dest="0", tag="0", comm="MPI_COMM_WORLD"):
    return SEND.format(count=count, datatype=datatype, dest=dest, tag=tag, comm=comm)


MPICHS = (r"comm is no handle of the MPI-5.0 standard's ABI, .* \(libmpi_abi.so.1\): this program, or a part "
          "of it, was compiled with the mpi.h of MPICH, Intel MPI or another library with MPICH's ABI; "
          "compile all of it with")

# The key is the first word for programs/arguments.c. The value is (error class, the call as the
# message must show it, the reason).
CASES = {
    "negative count": ("COUNT", send(count="-1"), "count is -1 but must not be negative"),
    "rank too large": ("RANK", send(dest="2"),
                       "dest is 2, which is not a rank of the communicator; it has ranks 0 to 1"),
    "negative rank": ("RANK", r"MPI_Recv\(buf=0x\w+, .*, source=-7, .*\)",
                      "source is -7, which is not a rank of the communicator"),
    "send to any source": ("RANK", send(dest="MPI_ANY_SOURCE"), "dest may not be MPI_ANY_SOURCE here"),
    "negative tag": ("TAG", send(tag="-3"), r"tag is -3 but must be from 0 to \d+"),
    "send with any tag": ("TAG", send(tag="MPI_ANY_TAG"), "tag may not be MPI_ANY_TAG here"),
    "null communicator": ("COMM", send(comm="MPI_COMM_NULL"), "comm is MPI_COMM_NULL"),
    "freed communicator": ("COMM", r"MPI_Barrier\(comm=0x\w+\)",
                           "comm is no communicator: it was freed or never made"),
    "no communicator": ("COMM", r"MPI_Barrier\(comm=0x7777777\)",
                        "comm is no communicator: it was freed or never made"),
    "communicator of another ABI": ("COMM", r"MPI_Barrier\(comm=0x44000000\)", MPICHS),
    "null communicator of another ABI": ("COMM", r"MPI_Barrier\(comm=0x4000000\)", MPICHS),
    "negative communicator of another ABI": ("COMM", r"MPI_Barrier\(comm=0xffffffffc4000001\)", MPICHS),
    "datatype as communicator": ("COMM", r"MPI_Barrier\(comm=MPI_INT\)",
                                 "comm is MPI_INT, which is no communicator"),
    "null datatype": ("TYPE", send(datatype="MPI_DATATYPE_NULL"), "datatype is MPI_DATATYPE_NULL"),
    "uncommitted datatype": ("TYPE", send(datatype=r"0x\w+"), "is not committed; call MPI_Type_commit first"),
    "freed datatype": ("TYPE", send(datatype=r"0x\w+"),
                       "datatype is no datatype: it was freed or never made"),
    "null buffer": ("BUFFER", send(count="3"), "buf is a null pointer but 3 of MPI_INT are to be there"),
    "in place where it may not be": ("BUFFER", r"MPI_Bcast\(buffer=MPI_IN_PLACE, .*\)",
                                     "buffer may not be MPI_IN_PLACE here"),
    "root too large": ("ROOT", r"MPI_Bcast\(.*, root=2, comm=MPI_COMM_WORLD\)",
                       "root is 2, which is not a rank of the communicator"),
    "negative root": ("ROOT", r"MPI_Reduce\(.*, root=.*\)", "root"),
    "null operation": ("OP", r"MPI_Allreduce\(.*op=MPI_OP_NULL, .*\)", "op is MPI_OP_NULL"),
    "operation not for this datatype": ("OP", r"MPI_Allreduce\(.*MPI_DOUBLE, op=MPI_BAND, .*\)",
                                        "MPI_BAND.*MPI_DOUBLE|MPI_DOUBLE.*MPI_BAND"),
    "operation not for a derived datatype": ("OP", r"MPI_Allreduce\(.*op=MPI_SUM, .*\)", "MPI_SUM"),
    "start of a null request": ("REQUEST", r"MPI_Start\(.*\)", "is MPI_REQUEST_NULL"),
    "cancel of a collective": ("REQUEST", r"MPI_Cancel\(.*\)",
                               "allreduce cannot be cancelled; only sends and receives can"),
    "start twice": ("REQUEST", r"MPI_Start\(.*\)",
                    "the request is active already; wait for it before starting it again"),
    "wait for a freed request": ("REQUEST", r"MPI_Wait\(.*\)", "is no request: it was freed or never made"),
    "wait for a freed request of the program": ("REQUEST", r"MPI_Wait\(.*\)",
                                                "the request was given up with MPI_Request_free"),
    "wait for all with a freed request": ("REQUEST", r"MPI_Waitall\(.*\)",
                                          "is no request: it was freed or never made"),
    "wait for any of a freed request": ("REQUEST", r"MPI_Waitany\(.*\)",
                                        "is no request: it was freed or never made"),
    "wait for some of a freed request": ("REQUEST", r"MPI_Waitsome\(.*\)",
                                         "is no request: it was freed or never made"),
    "test of a freed request": ("REQUEST", r"MPI_Test\(.*\)", "is no request: it was freed or never made"),
    "status of a freed request": ("REQUEST", r"MPI_Request_get_status\(.*\)",
                                  "is no request: it was freed or never made"),
    "free of a freed request": ("REQUEST", r"MPI_Request_free\(.*\)",
                                "is no request: it was freed or never made"),
    "group after its end": ("GROUP", r"MPI_Group_size\(group=0x\w+, .*\)",
                            "group is no group: it was freed or never made"),
    "operation after its end": ("OP", r"MPI_Allreduce\(.*op=0x\w+, .*\)",
                                "op is no reduction operation: it was freed or never made"),
    "info after its end": ("INFO", r"MPI_Info_set\(info=0x\w+, .*\)",
                           "info is no info object: it was freed or never made"),
    "error handler after its end": ("ERRHANDLER", r"MPI_Comm_set_errhandler\(.*errhandler=0x\w+\)",
                                    "errhandler is no error handler: it was freed or never made"),
    "message after its end": ("REQUEST", r"MPI_Mrecv\(.*message=.*\)",
                              "message is no message: it was freed or never made"),
    "request after its end": ("REQUEST", r"MPI_Wait\(.*\)",
                              "request is no request: it was freed or never made"),
    "group without such a rank": ("RANK", r"MPI_Group_incl\(.*\)", "5"),
    "negative color": ("ARG", r"MPI_Comm_split\(comm=MPI_COMM_WORLD, color=-7, .*\)",
                       "color is -7 but must be at least 0, or MPI_UNDEFINED"),
    "freed key": ("KEYVAL", r"MPI_Comm_get_attr\(.*\)", "key"),
    "info key without a name": ("INFO_KEY", r"MPI_Info_set\(.*key=\"\".*\)", "key"),
    "null info": ("INFO", r"MPI_Info_set\(info=MPI_INFO_NULL, .*\)", "info is MPI_INFO_NULL"),
    "bsend without a buffer": ("BUFFER", r"MPI_Bsend\(.*\)",
                               "no buffer is attached: call MPI_Buffer_attach or MPI_Comm_attach_buffer "
                               "before buffered sends"),
    "buffer attached twice": ("BUFFER", r"MPI_Buffer_attach\(.*\)",
                              "a buffer of 32 bytes is attached already; detach it first"),
    "negative block length": ("COUNT", r"MPI_Type_contiguous\(count=-2, oldtype=MPI_INT, .*\)",
                              "count is -2 but must not be negative"),
    "negative count of a gather": ("COUNT", r"MPI_Allgatherv\(.*\)",
                                   r"recvcounts\[1\] is -1 but must not be negative"),
    "negative count of a reduce-scatter": ("COUNT", r"MPI_Reduce_scatter\(.*\)",
                                           r"recvcounts\[1\] is -1 but must not be negative"),
    "negative count of a send": ("COUNT", r"MPI_Alltoallv\(.*\)",
                                 r"sendcounts\[1\] is -1 but must not be negative"),
    "negative count of a receive": ("COUNT", r"MPI_Alltoallv\(.*\)",
                                    r"recvcounts\[1\] is -1 but must not be negative"),
    "blocks of allgather": ("COUNT", r"MPI_Allgather\(.*\)",
                            "what this rank sends to itself has 4 bytes, .* from itself has 8; "),
    "blocks of allgatherv": ("COUNT", r"MPI_Allgatherv\(.*\)",
                             "what this rank sends to itself has 4 bytes, .* from itself has 8; "),
    "blocks of alltoall": ("COUNT", r"MPI_Alltoall\(.*\)",
                           "what this rank sends to itself has 4 bytes, .* from itself has 8; "),
    "blocks of ialltoall": ("COUNT", r"MPI_Ialltoall\(.*\)",
                            "what this rank sends to itself has 8 bytes, .* from itself has 4; "),
    "blocks of allgather_init": ("COUNT", r"MPI_Allgather_init\(.*\)",
                                 "what this rank sends to itself has 8 bytes, .* from itself has 4; "),
    "null pointer for a result": ("ARG", r"MPI_Comm_rank\(comm=MPI_COMM_WORLD, rank=NULL\)",
                                  "rank is a null pointer"),
    "function that is missing": ("UNSUPPORTED_OPERATION", r"MPI_Win_create\(.*\)",
                                 r"MPI_Win_create is not implemented in Lanyard \d+\.\d+"),
    "second initialisation": ("OTHER", r"MPI_Init\(.*\)",
                              "MPI is initialised already; call MPI_Init or MPI_Init_thread once"),
}


def class_number(name):
    return int(re.search(rf"#define MPI_ERR_{name}\s+(\d+)", HEADER).group(1))


@pytest.mark.parametrize("wish", CASES)
def test_the_error_comes_back(mpirun, program, wish):
    error_class, call, reason = CASES[wish]
    code, out, err = mpirun.run("-n", 2, program("arguments"), wish, "return")
    assert (code, err) == (0, "")
    number, text = out.split(" ", 1)
    assert int(number) == class_number(error_class), out
    assert re.fullmatch(rf"{call} on rank 0 \([^)]+\): .*({reason}).*\n", text), text


@pytest.mark.parametrize("wish", [
    "negative count", "freed communicator", "uncommitted datatype", "root too large",
    "function that is missing",
])
def test_the_error_is_fatal_by_default(mpirun, program, wish):
    error_class, call, reason = CASES[wish]
    code, out, err = mpirun.run("-n", 2, program("arguments"), wish, "fatal")
    assert code == class_number(error_class) & 255, (code, err)
    assert out == ""
    assert re.search(rf"Lanyard: {call} on rank [01] \([^)]+\): .*({reason}).*; the job is aborted "
                     r"\(error handler MPI_ERRORS_ARE_FATAL\)\n", err), err
    assert re.search(rf"mpirun: rank [01] \(.*\) ended the job because of an error, code {code}\n", err), err


def test_a_process_alone_stops_in_the_same_way(mpirun, program):
    code, out, err = mpirun.run("negative count", "fatal", launcher=program("arguments"))
    assert code == class_number("COUNT") and out == ""
    assert re.search(r"Lanyard: MPI_Send\(.*count=-1.*\) on rank 0 \([^)]+\): count is -1 but must not be "
                     "negative; the job is aborted", err), err


@pytest.mark.parametrize(("wish", "words"), [
    ("handler called with a code of the program",
     r"called with error code \d+: the lake is dry; the job is aborted"),
    ("handler called with no code", "called with error code 12345, which has no meaning; the job is aborted"),
])
def test_a_job_ended_by_a_code_of_the_program_fails(mpirun, program, wish, words):
    code, out, err = mpirun.run("-n", 2, program("arguments"), wish, "fatal")
    assert (code != 0, out) == (True, "")
    assert re.search(rf"Lanyard: MPI_Comm_call_errhandler on rank [01] \([^)]+\): {words}", err), err
