# SPDX-License-Identifier: Apache-2.0
"""What is done when the condition of a rule is met."""

from __future__ import annotations

import json
import os
import re
import smtplib
import subprocess
import time
import urllib.request
from email.message import EmailMessage
from pathlib import Path
from typing import Iterable, List, NamedTuple, Optional, Union

from ..errors import BadConfig, IoError
from ..reader.store import StorePath
from ..trials import Trial, logger


class Event(NamedTuple):
    """That a condition was met. As JSON it is the line that spotter's own responses hand on, as far as a rule in Python has its parts."""
    trial: Trial
    rule: str
    step: int
    reason: str

    def sentence(self) -> str:
        mode, index = self.trial.mode_modestep(self.step)
        where = f"{mode.mode}({index})" if mode else f"step {self.step}"
        return f"{self.rule} at {where} of {self.trial.path}{': ' if self.reason else ''}{self.reason}"

    def line(self) -> str:
        mode, index = self.trial.mode_modestep(self.step)
        path = self.trial.path if isinstance(self.trial.run._path, StorePath) else os.path.abspath(self.trial.path)
        return json.dumps({"rule": self.rule, "reason": self.reason, "mode": mode.mode if mode else None, "step": index,
                           "ordinal": self.step, "run": path, "time": time.time()})


class StopTraining:
    """Makes the file `stop` in the run's folder: the loop's next `step` says that it is to stop. Nothing, if the run is over.

    training_job_prefix is what smdebug searched the job by, and has no meaning: it is the run that the rule judges."""

    def __init__(self, training_job_prefix: Optional[str] = None):
        pass

    def invoke(self, event: Event) -> None:
        run = event.trial.run
        if run.over():
            return
        if isinstance(run._path, StorePath):
            raise IoError(f"{run.path} is a mirror: the training is stopped by the file `stop` in the folder that it records into")
        folder = Path(run.path)
        if re.fullmatch(r"worker-[1-9][0-9]*", folder.name):
            folder = folder.parent
        part = folder / "stop.part"
        part.write_text(event.sentence() + "\n", encoding="utf-8")
        os.replace(part, folder / "stop")


class RunCommand:
    """The shell runs it, with the event as a line of JSON on its standard input; an exit code but 0 is a failure."""

    def __init__(self, command: str, timeout: float = 60.0):
        self.command, self.timeout = command, timeout

    def invoke(self, event: Event) -> None:
        subprocess.run(self.command, shell=True, input=event.line() + "\n", text=True, check=True, timeout=self.timeout)


class Webhook:
    """Posts the event as JSON."""

    def __init__(self, url: str, timeout: float = 10.0):
        if not url.startswith(("http://", "https://")):
            raise BadConfig(f"a webhook is an address with http:// or https://, not {url!r}")
        self.url, self.timeout = url, timeout

    def invoke(self, event: Event) -> None:
        request = urllib.request.Request(self.url, event.line().encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=self.timeout):
            pass


class Email:
    """A mail to `endpoint` through a mail server, which takes it without a password: host, or host:port."""

    def __init__(self, endpoint: str, server: str = "localhost"):
        self.endpoint, self.server = endpoint, server

    def invoke(self, event: Event) -> None:
        mail = EmailMessage()
        mail["To"] = mail["From"] = self.endpoint
        mail["Subject"] = f"{event.rule} fired"
        mail.set_content(event.sentence())
        with smtplib.SMTP(self.server, timeout=10) as server:
            server.send_message(mail)


AnyAction = Union[StopTraining, RunCommand, Webhook, Email]
AnyActions = Union[None, str, AnyAction, Iterable[AnyAction]]
_BY_NAME = {"stoptraining": StopTraining, "command": RunCommand, "webhook": Webhook, "email": Email}


def _action_of(said) -> AnyAction:
    name = str(said.get("name", "")).lower() if isinstance(said, dict) else ""
    if name not in _BY_NAME:
        why = "no service here sends SMS: let a command do it" if name == "sms" else f"there are {', '.join(_BY_NAME)}"
        raise BadConfig(f"{json.dumps(said)} is no action: {why}")
    try:
        return _BY_NAME[name](**{key: value for key, value in said.items() if key != "name"})
    except TypeError as why:
        raise BadConfig(f"{json.dumps(said)} is no action: {why}") from None


class Actions:
    """Actions, or JSON that names one or a list of them: {"name": "StopTraining"}, {"name": "command", "command": "./alert.sh"},
    {"name": "webhook", "url": ...}, {"name": "email", "endpoint": ..., "server": ...}. BadConfig where one is malformed.

    All run, in order, whatever becomes of those before; `failures` is what went wrong."""

    def __init__(self, actions: AnyActions, rule_name: str):
        self.rule_name = rule_name
        self.failures: List[str] = []
        if isinstance(actions, str):
            try:
                said = json.loads(actions) if actions.strip() else []
            except ValueError as why:
                raise BadConfig(f"the actions of rule {rule_name} are no JSON: {why}") from None
            self._actions: List[AnyAction] = [_action_of(each) for each in (said if isinstance(said, list) else [said])]
        else:
            self._actions = [] if actions is None else list(actions) if isinstance(actions, Iterable) else [actions]

    def invoke(self, message: str = "", *, trial: Trial, step: int) -> None:
        event = Event(trial, self.rule_name, step, message)
        for action in self._actions:
            try:
                action.invoke(event)
            except Exception as why:  # of whatever kind: the next one runs
                self.failures.append(f"{type(action).__name__}: {why}")
                logger.warning("rule %s, %s", self.rule_name, self.failures[-1])
