#!/usr/bin/python3
"""Receives the webhooks of shootd, stores the events, and hands on each event once. `webhook-consumer.py --help` has the details.

An example to copy. Needs Python 3.9 and nothing else. It relies on these rules of docs/webhooks.md. Deliveries come at least once and in
any order, so the id is the key of the table. The consumer answers 2xx after the commit, so an acknowledged event is never lost. Events
that shootd could not deliver are read from its event log, after the last sequence seen.
"""

import argparse
import base64
import hashlib
import hmac
import http.client
import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_S = 300
MAX_BODY_BYTES = 64 * 1024
PAGE = 500
FIRST_RETRY_S, LONGEST_RETRY_S = 1, 60
STOPPED, CANNOT_START = 0, 1  # argparse ends with 2

USAGE = """
each new event is one line of JSON, {"id", "type", "timestamp", "data"}: on standard output, or on the standard input of COMMAND,
which is run for each event and ends with 0 when it has taken it; otherwise it gets the same event again, and no other before. An event
is handed on a second time only when this program was killed after it was handed on and before that was noted: tell by its id.

SECRETS holds the secrets of the webhook ("whsec_..."), one on each line; in a rotation the new one is added, the old one removed when its
time is over. It is read for each delivery: no restart. SECRETS and the token file have to be readable by their owner only.

With --url and --token-file (role viewer, the projects of the webhook) the event log is read at the start and every --every minutes; with
--type say the same types as the webhook has. When events are gone from the log that were not seen, or the server was restored from a backup, the line
{"type": "consumer.gap", "data": {"after", "oldest", "newest"}} tells so: read the clusters anew.

exit codes: 0 stopped by SIGTERM or SIGINT, 1 could not start or go on (standard error says why), 2 wrong usage
"""


def say(text):
    print("webhook-consumer: " + text, file=sys.stderr, flush=True)


def read_private(path):
    """The words of a file that only its owner may read."""
    with open(path, encoding="ascii") as f:
        if os.fstat(f.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ValueError(f"{path} can be read by others: chmod 600 {path}")
        words = f.read().split()
    if not words:
        raise ValueError(f"{path} is empty")
    return words


# ---- verification ----------------------------------------------------------------------------------------------------

def read_keys(path):
    words = read_private(path)
    if not all(word.startswith("whsec_") for word in words):
        raise ValueError(f"{path}: every line must be a secret of the webhook, whsec_...")
    return [base64.b64decode(word[len("whsec_"):], validate=True) for word in words]


def is_genuine(keys, headers, body):
    """Whether one of the signatures (a rotation has several) was made just now with one of the keys."""
    id, stamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not id or not (stamp.isascii() and stamp.isdigit()) or abs(time.time() - int(stamp)) > TOLERANCE_S:
        return False
    signed = f"{id}.{stamp}.".encode() + body
    given = [signature.encode() for signature in headers.get("webhook-signature", "").split(" ")]
    wanted = [b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()) for key in keys]
    return any(hmac.compare_digest(w, g) for w in wanted for g in given)


# ---- the store of received events ------------------------------------------------------------------------------------

class Store:
    """Events by id, whether each was handed on, and the last sequence read from the log. Any thread."""

    def __init__(self, path):
        self.lock = threading.Lock()
        self.changed = threading.Event()
        self.db = sqlite3.connect(path, check_same_thread=False, timeout=1)
        # Exclusive: a second consumer with the same file would hand on every event again.
        self.db.executescript("""
            PRAGMA locking_mode = EXCLUSIVE;
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = FULL;
            CREATE TABLE IF NOT EXISTS event (id TEXT PRIMARY KEY, line TEXT NOT NULL, received_at INTEGER NOT NULL,
                                              handed INTEGER NOT NULL DEFAULT 0);
            CREATE INDEX IF NOT EXISTS event_waiting ON event (handed) WHERE handed = 0;
            CREATE TABLE IF NOT EXISTS place (one INTEGER PRIMARY KEY CHECK (one = 1), sequence INTEGER NOT NULL);
        """)

    def add(self, events, sequence=None):
        """Commits new events in their order, and how far the log was read. Returns the number of new events."""
        rows = [(e["id"], json.dumps(e, separators=(",", ":")), int(time.time())) for e in events]
        with self.lock, self.db:
            before = self.db.total_changes
            self.db.executemany("INSERT INTO event (id, line, received_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", rows)
            new = self.db.total_changes - before
            if sequence is not None:
                self.db.execute("INSERT INTO place VALUES (1, ?) ON CONFLICT DO UPDATE SET sequence = excluded.sequence", (sequence,))
        if new:
            self.changed.set()
        return new

    def sequence(self):
        with self.lock:
            row = self.db.execute("SELECT sequence FROM place").fetchone()
        return row[0] if row else None

    def waiting(self):
        """The next event to hand on: (id, line), or None."""
        with self.lock:
            return self.db.execute("SELECT id, line FROM event WHERE handed = 0 ORDER BY rowid LIMIT 1").fetchone()

    def handed(self, id):
        with self.lock, self.db:
            self.db.execute("UPDATE event SET handed = 1 WHERE id = ?", (id,))

    def forget(self, days):
        with self.lock, self.db:
            self.db.execute("DELETE FROM event WHERE handed = 1 AND received_at < ?", (int(time.time()) - days * 86400,))


# ---- deliveries ------------------------------------------------------------------------------------------------------

class Deliveries(BaseHTTPRequestHandler):
    server_version, sys_version = "webhook-consumer", ""
    timeout = 10  # for each read

    def do_POST(self):
        try:
            status = self.take()
        except (json.JSONDecodeError, TypeError, KeyError):
            status = 400  # the signature is right, but it is not an event: another program signs with this secret
        except (OSError, ValueError, sqlite3.Error) as e:
            say(f"cannot take a delivery: {e}")
            status = 503  # shootd sends it again
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def take(self):
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            return 411
        if int(length) > MAX_BODY_BYTES:
            return 413
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            return 400
        if not is_genuine(read_keys(self.server.secrets), self.headers, body):
            say(f"refused a delivery from {self.client_address[0]}: not genuine, or clocks differ by more than {TOLERANCE_S} s")
            return 401
        event = json.loads(body)
        if event["id"] != self.headers["webhook-id"]:
            return 400
        self.server.store.add([event])
        return 204  # after the commit, never before

    def log_message(self, *args):
        pass


# ---- the event log ---------------------------------------------------------------------------------------------------

class Log:
    """GET /v1/events of shootd. It follows no proxy setting and no redirect, because they would receive the token."""

    def __init__(self, options, store):
        self.base = urllib.parse.urlsplit(options.url)
        self.options, self.store = options, store

    def page(self, after):
        """A page, and the sequences in the log: (page, oldest, newest). For an empty log oldest is newest + 1."""
        query = {"after": after, "limit": PAGE, "type": self.options.type, "project": self.options.project}
        kind = http.client.HTTPSConnection if self.base.scheme == "https" else http.client.HTTPConnection
        connection = kind(self.base.netloc, timeout=30)
        try:
            path = self.base.path.rstrip("/") + "/v1/events?" + urllib.parse.urlencode({k: v for k, v in query.items() if v is not None})
            connection.request("GET", path, headers={"Authorization": "Bearer " + read_private(self.options.token_file)[0]})
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise OSError(f"{self.options.url} answers {answer.status}: {text[:300].decode(errors='replace')}")
        page = json.loads(text)
        return page, page["oldest_sequence"] or page["newest_sequence"] + 1, page["newest_sequence"]

    def begin(self):
        """The start of the very first run."""
        _, oldest, newest = self.page(0)
        sequence = newest if self.options.begin == "now" else max(int(self.options.begin), oldest - 1)
        self.store.add([], sequence)
        return sequence

    def catch_up(self):
        """Stores all events after the last sequence; those that were delivered are stored already."""
        after = self.store.sequence()
        if after is None:
            after = self.begin()
        while True:
            page, oldest, newest = self.page(after)
            if not oldest - 1 <= after <= newest:
                after = self.begin_anew(after, oldest, newest)
                continue
            if after < page.get("base_sequence", 0):
                self.note_restore(after, page["base_sequence"], oldest, newest)
            after = page["last_sequence"]
            new = self.store.add([{k: v for k, v in e.items() if k != "sequence"} for e in page["items"]], after)
            if new:
                say(f"{new} event(s) recovered from the log, up to sequence {after}")
            if page["next_cursor"] is None:
                break
        self.store.forget(self.options.keep_days)

    def begin_anew(self, after, oldest, newest):
        """The log does not reach back to the last seen event, or it is another log (restored from a backup)."""
        say(f"{after} was seen last, the log has {oldest} to {newest}: events are missing, read the clusters anew")
        gap = {"id": f"gap_{after}_{oldest}_{newest}", "type": "consumer.gap", "data": {"after": after, "oldest": oldest, "newest": newest}}
        self.store.add([gap], oldest - 1)
        return oldest - 1

    def note_restore(self, after, base, oldest, newest):
        """Adds one gap for each restore of the server from a backup: events before the restore may be in no log."""
        gap = {"id": f"gap_restored_{base}", "type": "consumer.gap", "data": {"after": after, "oldest": oldest, "newest": newest}}
        if self.store.add([gap], after):
            say("the server was restored from a backup: events are missing, read the clusters anew")


# ---- handing on ------------------------------------------------------------------------------------------------------

def hand_on(command, line):
    """False when the command did not accept the event."""
    if not command:
        with open(1, "w", closefd=False) as out:
            out.write(line + "\n")
        return True
    try:
        return subprocess.run(command, input=line + "\n", text=True).returncode == 0
    except OSError as e:
        say(f"{command[0]}: {e.strerror}")
        return False


def signals(handler):
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handler)


class Consumer:
    def __init__(self, options):
        self.options = options
        self.stopping = threading.Event()
        self.exit_code = STOPPED
        self.store = Store(options.database)
        self.log = Log(options, self.store) if options.url else None
        self.end_read, self.end_write = os.pipe()

    def end(self):
        """Safe in a signal handler, because it takes no lock."""
        os.write(self.end_write, b".")

    def guarded(self, work):
        """A thread that fails ends the program, so that a supervisor can start it again."""
        def run():
            try:
                work()
            except BaseException as e:
                say(f"cannot go on: {e!r}")
                self.exit_code = CANNOT_START
                self.end()
        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def hand_on_all(self):
        pause = FIRST_RETRY_S
        while True:
            self.store.changed.clear()  # before the store is read
            if self.stopping.is_set():
                return
            waiting = self.store.waiting()
            if waiting is None:
                self.store.changed.wait()
            elif hand_on(self.options.command, waiting[1]):
                self.store.handed(waiting[0])
                pause = FIRST_RETRY_S
            else:
                say(f"{waiting[0]} was not taken, again in {pause} s")
                self.stopping.wait(pause)
                pause = min(pause * 2, LONGEST_RETRY_S)

    def try_to_catch_up(self):
        try:
            self.log.catch_up()
            return True
        except (OSError, http.client.HTTPException, ValueError, KeyError) as e:
            say(f"cannot read the event log: {e}")
            return False

    def catch_up_again_and_again(self, good):
        pause = FIRST_RETRY_S
        while not self.stopping.wait(self.options.every * 60 if good else pause):
            pause = FIRST_RETRY_S if good else min(pause * 2, LONGEST_RETRY_S)
            good = self.try_to_catch_up()

    def run(self):
        signals(lambda *_: sys.exit(STOPPED))  # stored events are committed, and nothing else runs yet
        threads = []
        # Missed events come before new deliveries.
        good = self.log is None or self.try_to_catch_up()
        host, _, port = self.options.listen.rpartition(":")
        with ThreadingHTTPServer((host, int(port)), Deliveries) as server:
            server.daemon_threads = False  # a stop waits for open deliveries
            server.store, server.secrets = self.store, self.options.secrets
            signals(lambda *_: self.end())
            threads.append(self.guarded(server.serve_forever))
            threads.append(self.guarded(self.hand_on_all))
            if self.log:
                threads.append(self.guarded(lambda: self.catch_up_again_and_again(good)))
            say(f"listening on http://{host}:{server.server_port}")
            os.read(self.end_read, 1)
            self.stopping.set()
            self.store.changed.set()
            server.shutdown()
        for thread in threads:
            thread.join()
        return self.exit_code


def read_options(arguments):
    parser = argparse.ArgumentParser(prog="webhook-consumer.py", description=__doc__.splitlines()[0].split(" `")[0], epilog=USAGE,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--secrets", required=True, metavar="FILE", help="secrets of the webhook, mode 0600")
    parser.add_argument("--database", required=True, metavar="FILE", help="SQLite file, created when it does not exist")
    parser.add_argument("--listen", default="127.0.0.1:8081", metavar="ADDRESS:PORT",
                        help="address for deliveries, without TLS: put a proxy in front (default: %(default)s)")
    parser.add_argument("--url", help="address of shootd, such as https://shootd.example.com")
    parser.add_argument("--token-file", metavar="FILE", help="file with a token of shootd, mode 0600")
    parser.add_argument("--type", metavar="TYPES", help="types to read from the event log, such as cluster.*,operation.failed (default: all)")
    parser.add_argument("--project", metavar="PROJECTS", help="projects to read from the event log (default: those of the token)")
    parser.add_argument("--every", type=float, default=10, metavar="MINUTES", help="time between two reads of the event log (default: %(default)s)")
    parser.add_argument("--begin", default="now", metavar="SEQUENCE",
                        help="sequence after which the first read begins; 0: all stored events (default: %(default)s)")
    parser.add_argument("--keep-days", type=int, default=60, metavar="DAYS",
                        help="time for which ids are stored; longer than shootd keeps events (default: %(default)s)")
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="gets each event on its standard input; put -- before it")
    options = parser.parse_args(arguments)
    if bool(options.url) != bool(options.token_file):
        parser.error("--url and --token-file belong together")
    if options.url and urllib.parse.urlsplit(options.url).scheme not in ("http", "https"):
        parser.error("--url must begin with https:// or http://")
    if not options.listen.rpartition(":")[2].isdigit():
        parser.error("--listen must be ADDRESS:PORT")
    if options.begin != "now" and not options.begin.isdigit():
        parser.error("--begin must be now or a sequence")
    if not options.every > 0 or options.keep_days < 1:
        parser.error("--every and --keep-days must be above 0")
    return options


def main(arguments=None):
    options = read_options(arguments)
    try:
        read_keys(options.secrets)
        if options.token_file:
            read_private(options.token_file)
        return Consumer(options).run()
    except (OSError, ValueError, sqlite3.Error) as e:
        say(f"cannot start: {e}")
        return CANNOT_START


if __name__ == "__main__":
    sys.exit(main())
