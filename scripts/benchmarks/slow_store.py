"""A store that answers late: nginx over a folder, with its echo module, which waits first."""

import atexit
import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from shutil import which
from typing import NamedTuple

import psutil

BUCKET = "bucket"

_MODULE = Path("/usr/lib/nginx/modules/ngx_http_echo_module.so")
_CONFIGURATION = """
load_module {module};
worker_processes 1; daemon off; pid {work}/pid; error_log {work}/errors; {user}
events {{ worker_connections 4096; }}
http {{
  sendfile on; tcp_nodelay on; keepalive_requests 1000000; default_type application/octet-stream;
  log_format served '$request_method $body_bytes_sent';
  access_log {work}/served served;
  client_body_temp_path {work}; proxy_temp_path {work}; fastcgi_temp_path {work};
  uwsgi_temp_path {work}; scgi_temp_path {work};
  {servers}
}}
"""
_SERVER = """server {{
  listen 127.0.0.1:{port} backlog=4096; root {root};
  location / {{ echo_sleep {seconds}; echo_exec @later; }} location @later {{ root {root}; }}
}}"""


class Served(NamedTuple):
    """Requests and bytes that were served."""

    requests: int
    bytes: int

    def since(self, earlier: "Served") -> "Served":
        """Return the difference."""
        return Served(self.requests - earlier.requests, self.bytes - earlier.bytes)


class SlowStore:
    """A running server.

    Attributes:
        endpoints: by milliseconds of latency, what comes before /bucket/name in a URL.
    """

    def __init__(self, work: Path, endpoints: dict[int, str], pid: int) -> None:
        self.endpoints = endpoints
        self._log = work / "served"
        self._pid = pid

    def served(self) -> Served:
        """Return the requests and bytes of its log."""
        lines = [line.split() for line in self._log.read_text().splitlines()]
        return Served(len(lines), sum(int(size) for _, size in lines))

    def cpu_seconds(self) -> float:
        """Return its CPU time."""
        master = psutil.Process(self._pid)
        return sum(sum(p.cpu_times()[:2]) for p in (master, *master.children()))


def missing() -> str | None:
    """Return why there can be no such server here; None if there can."""
    if which("nginx", path=_path()) is None or not _MODULE.exists():
        return "nginx with its echo module is not installed (Debian: libnginx-mod-http-echo)"
    return None


def start(root: Path, work: Path, latencies: Sequence[int]) -> SlowStore:
    """Serve `root`, whose folders are buckets, at each latency in ms, until this process ends."""
    ports = {latency: _free_port() for latency in latencies}
    servers = (
        _SERVER.format(port=port, root=root, seconds=latency / 1e3)
        for latency, port in ports.items()
    )
    configuration = work / "nginx.conf"
    user = "user root;" if os.geteuid() == 0 else ""
    text = _CONFIGURATION.format(module=_MODULE, work=work, user=user, servers="\n".join(servers))
    configuration.write_text(text)
    program = which("nginx", path=_path())
    assert program is not None
    process = subprocess.Popen([program, "-c", configuration, "-p", work])
    atexit.register(process.terminate)
    for port in ports.values():
        _wait(port)
    endpoints = {latency: f"http://127.0.0.1:{port}" for latency, port in ports.items()}
    return SlowStore(work, endpoints, process.pid)


def _path() -> str:
    return f"{os.environ.get('PATH', '')}:/usr/sbin"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port: int = held.getsockname()[1]
        return port


def _wait(port: int) -> None:
    for _ in range(100):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.1)
    raise SystemExit("nginx does not start; see above.")
