"""A parent that gives its descriptor 3 to a program, as systemd does: given.py KIND PLACE exec|hold PROGRAM WORD...

It prints the address. With `exec` it becomes the program; with `hold` each line of its input is a start, with the JSON of
more variables, and it says how each has ended.
"""
import json
import os
import resource
import socket
import sys

TCP, UNIX, STREAM, DATAGRAM = socket.AF_INET, socket.AF_UNIX, socket.SOCK_STREAM, socket.SOCK_DGRAM


def bound(family, kind, address, listens=True):
    made = socket.socket(family, kind)
    made.bind(address)
    if listens:
        made.listen(4096)
    return made


def connection():
    listener = bound(TCP, STREAM, ("127.0.0.1", 0))
    socket.create_connection(listener.getsockname())
    return listener.accept()[0]


kind, place, way, *words = sys.argv[1:]
# More descriptors that the program gets, of 300 in all.
more = os.environ.pop("GIVEN_MORE", None)
if more is not None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300))
    for _ in range(int(more)):
        os.set_inheritable(os.open("/dev/null", os.O_RDONLY), True)
made = {
    "tcp": lambda: bound(TCP, STREAM, ("127.0.0.1", 0)),
    "tcp6": lambda: bound(socket.AF_INET6, STREAM, ("::1", 0)),
    "unix": lambda: bound(UNIX, STREAM, place),
    "abstract": lambda: bound(UNIX, STREAM, "\0" + place),
    "unbound": lambda: socket.socket(TCP, STREAM),
    "not-listening": lambda: bound(TCP, STREAM, ("127.0.0.1", 0), listens=False),
    "connection": connection,
    "udp": lambda: bound(TCP, DATAGRAM, ("127.0.0.1", 0), listens=False),
    "udp6": lambda: bound(socket.AF_INET6, DATAGRAM, ("::1", 0), listens=False),
    "unix-not-listening": lambda: bound(UNIX, STREAM, place, listens=False),
    "unix-datagram": lambda: bound(UNIX, DATAGRAM, place, listens=False),
    "unix-packets": lambda: bound(UNIX, socket.SOCK_SEQPACKET, place),
    "pipe": lambda: open(os.pipe()[0]),
    "file": lambda: open(place, "w"),
    "closed": lambda: None,
}[kind]()
if isinstance(made, socket.socket) and kind in ("tcp", "tcp6"):
    print(json.dumps({"port": made.getsockname()[1]}), flush=True)


def become(variables):
    if made is None:
        os.closerange(3, 4)
    elif made.fileno() == 3:
        os.set_inheritable(3, True)
    else:
        os.dup2(made.fileno(), 3)
    environment = {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1", **os.environ, **variables}
    os.execvpe(words[0], words, environment)


if way == "exec":
    become({})
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        become(json.loads(line))
    print(json.dumps({"begun": child}), flush=True)
    status = os.waitpid(child, 0)[1]
    print(json.dumps({"ended": os.waitstatus_to_exitcode(status)}), flush=True)
