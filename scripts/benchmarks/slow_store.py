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

BUCKET = "bucket"

_PROGRAM = which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
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


class SlowStore(NamedTuple):
    """A running server."""

    log: Path
    endpoints: dict[int, str]  # by ms of latency, what comes before /bucket/name in a URL

    def served(self) -> tuple[int, int]:
        """Return the requests and the bytes of its log."""
        sizes = [int(line.split()[1]) for line in self.log.read_text().splitlines()]
        return len(sizes), sum(sizes)


def missing() -> str | None:
    """Return why there can be no such server here; None if there can."""
    if _PROGRAM is None or not _MODULE.exists():
        return "nginx with its echo module is not installed (Debian: libnginx-mod-http-echo)"
    return None


def start(root: Path, work: Path, latencies: Sequence[int]) -> SlowStore:
    """Serve `root`, whose folders are buckets, at each latency in ms, until this process ends."""
    with contextlib.ExitStack() as held:
        bound = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in latencies]
        ports = [one.getsockname()[1] for one in bound]
    servers = (
        _SERVER.format(port=port, root=root, seconds=latency / 1e3)
        for latency, port in zip(latencies, ports, strict=True)
    )
    user = "user root;" if os.geteuid() == 0 else ""
    text = _CONFIGURATION.format(module=_MODULE, work=work, user=user, servers="\n".join(servers))
    (work / "nginx.conf").write_text(text)
    process = subprocess.Popen([str(_PROGRAM), "-c", work / "nginx.conf", "-p", work])
    atexit.register(process.terminate)
    end = time.monotonic() + 10
    while not (work / "pid").exists():  # written once it listens
        if time.monotonic() > end:
            raise SystemExit("nginx does not start; see above.")
        time.sleep(0.05)
    urls = (f"http://127.0.0.1:{port}" for port in ports)
    return SlowStore(work / "served", dict(zip(latencies, urls, strict=True)))
