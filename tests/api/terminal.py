"""Runs a program in a pseudo-terminal for tests: reads its output and sends keys."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import harness


class Terminal:
    """A program in a terminal. It ends with its `with` block; `text` has its output."""

    def __init__(self, argv, env, columns=80, rows=24):
        self.text = ""
        self.master, slave = pty.openpty()
        self.resize(columns, rows)
        self.popen = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, env={"TERM": "xterm-256color", **env}, start_new_session=True,
                                      preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.popen.poll() is None:
            self.popen.send_signal(signal.SIGKILL)
        self.popen.wait(30)
        os.close(self.master)

    def resize(self, columns, rows=24):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _read(self, seconds):
        """Reads more output; False at its end."""
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            piece = os.read(self.master, 65536)
        except OSError:  # the program closed the terminal
            return False
        self.text += piece.decode(errors="replace")
        return bool(piece)

    def expect(self, words, timeout=30):
        """Reads until the words appear."""
        end = time.monotonic() + timeout * max(harness.PATIENCE, 2)
        while words not in self.text:
            if not self._read(0.2) or time.monotonic() > end:
                raise AssertionError(f"'{words}' was not printed:\n{self.text!r}")

    def send(self, text):
        os.write(self.master, text.encode())

    def end(self, timeout=60):
        """Reads to the end and returns the exit code, negative for a signal."""
        limit = time.monotonic() + timeout * max(harness.PATIENCE, 2)
        while self._read(0.2):
            if time.monotonic() > limit:
                raise AssertionError(f"goes on:\n{self.text!r}")
        return self.popen.wait(30)
