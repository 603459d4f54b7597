# SPDX-License-Identifier: Apache-2.0
"""A Ceph cluster of one, in memory, behind its gateway radosgw, for tests: a store that verifies signatures itself.

    radosgw.py FOLDER

Prints the gateway's port. A line `kill` on standard input kills the gateway and begins another; at its end all is over. Ends with 2 where
there is no radosgw, ceph-mon or ceph-osd.
"""
import os
import shutil
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path

KEY_ID, KEY = "AKIDTESTTESTTESTTEST", "a-secret/of+tests"
TOOLS = ("radosgw", "radosgw-admin", "ceph-mon", "ceph-osd", "ceph", "monmaptool")


def free_port() -> int:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return door.getsockname()[1]


def settings(folder: Path, identity: str, monitor: int, gateway: int) -> str:
    return f"""[global]
fsid = {identity}
mon_host = v1:127.0.0.1:{monitor}
ms_bind_msgr2 = false
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 8
osd_pool_default_pg_autoscale_mode = off
mon_allow_pool_size_one = true
mon_max_pg_per_osd = 1000
mon_data_avail_crit = 1
osd_crush_chooseleaf_type = 0
osd_objectstore = memstore
run_dir = {folder}
admin_socket = {folder}/$name.asok
pid_file = {folder}/$name.pid
log_file = {folder}/$name.log
mon_data = {folder}/mon
osd_data = {folder}/osd
rgw_data = {folder}/rgw
rgw_frontends = beast endpoint=127.0.0.1:{gateway}
rgw_dns_name = 127.0.0.1
"""


class Cluster:
    def __init__(self, folder: Path):
        self.folder, self.running, self.gateway = folder, {}, free_port()
        for name in ("mon", "osd", "rgw"):
            (folder / name).mkdir(parents=True)
        identity, monitor = str(uuid.uuid4()), free_port()
        (folder / "ceph.conf").write_text(settings(folder, identity, monitor, self.gateway))
        os.environ["CEPH_CONF"] = str(folder / "ceph.conf")
        self.once("monmaptool", "--create", "--fsid", identity, "--addv", "a", f"v1:127.0.0.1:{monitor}", folder / "monmap")
        self.once("ceph-mon", "-i", "a", "--mkfs", "--monmap", folder / "monmap")
        self.begin("mon", "ceph-mon", "-i", "a", "-f")
        disk = str(uuid.uuid4())
        self.once("ceph", "--connect-timeout", "20", "osd", "new", disk)
        self.once("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", disk)
        self.begin_disk()
        self.once("radosgw-admin", "user", "create", "--uid=tests", "--display-name=tests", f"--access-key={KEY_ID}", f"--secret-key={KEY}")
        self.begin_gateway()

    def once(self, *words):
        subprocess.run([str(each) for each in words], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=60)

    def begin(self, name: str, *words):
        with open(self.folder / f"{name}.out", "ab") as out:
            self.running[name] = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def begin_disk(self):
        """It ends where it asked the monitor too early; then again."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if "osd" not in self.running or self.running["osd"].poll() is not None:
                self.begin("osd", "ceph-osd", "-i", "0", "-f")
            found = subprocess.run(["ceph", "--connect-timeout", "20", "osd", "stat"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if " 1 up" in found.stdout:
                return
        raise TimeoutError("ceph-osd does not begin")

    def begin_gateway(self):
        self.begin("rgw", "radosgw", "-n", "client.rgw", "-f")
        end = time.monotonic() + 60
        while time.monotonic() < end:
            with socket.socket() as door:
                if door.connect_ex(("127.0.0.1", self.gateway)) == 0:
                    return
            time.sleep(0.02)
        raise TimeoutError("radosgw does not answer")

    def kill(self, name: str):
        self.running[name].kill()
        self.running[name].wait()

    def end(self):
        for name in reversed(list(self.running)):
            self.kill(name)


def main() -> int:
    if not all(shutil.which(each) for each in TOOLS):
        return 2
    cluster = None
    try:
        cluster = Cluster(Path(sys.argv[1]))
        print(cluster.gateway, flush=True)
        for line in sys.stdin:
            if line.strip() == "kill":
                cluster.kill("rgw")
                cluster.begin_gateway()
    except (subprocess.SubprocessError, OSError) as why:
        print(why, file=sys.stderr)
        return 1
    finally:
        if cluster:
            cluster.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
