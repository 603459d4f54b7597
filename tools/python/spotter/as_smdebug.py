# SPDX-License-Identifier: Apache-2.0
"""Lets files that import smdebug find spotter there."""

from __future__ import annotations

import sys
from types import ModuleType

from .errors import BadConfig


def install_as_smdebug() -> None:
    """From now on `from smdebug.rules import Rule` and its like give spotter's own, in this process: what is imported by those names must
    not be edited then. BadConfig where smdebug itself was imported before."""
    from . import analysis, collections_of, exceptions, mode_keys, rules, tensors, trials
    from .analysis import utils
    from .rules import action, req_tensors, rule, rule_invoker

    if "smdebug" in sys.modules and not hasattr(sys.modules["smdebug"], "_is_spotter"):
        raise BadConfig("smdebug itself is imported already: call install_as_smdebug() before")

    def made(name: str, **members) -> ModuleType:
        module = ModuleType(name, "spotter, by a name of smdebug's.")
        vars(module).update(members)
        return module

    collection = {"CollectionKeys": collections_of.CollectionKeys, "Collection": collections_of.TensorCollection}
    core = {"modes": made("smdebug.core.modes", ModeKeys=mode_keys.ModeKeys), "tensor": tensors,
            "collection": made("smdebug.core.collection", **collection),
            "logger": made("smdebug.core.logger", get_logger=lambda name="spotter": trials.logger)}
    # Of the modules that record in a framework what rules take from them.
    frameworks = {name: made(f"smdebug.{name}", modes=mode_keys.ModeKeys, create_trial=trials.create_trial,
                             CollectionKeys=collections_of.CollectionKeys) for name in ("tensorflow", "pytorch", "mxnet", "xgboost")}
    top = {**frameworks, "trials": trials, "rules": rules, "exceptions": exceptions, "analysis": analysis,
           "core": made("smdebug.core", __path__=[], **core)}
    found = {"smdebug": made("smdebug", __path__=[], _is_spotter=True, modes=mode_keys.ModeKeys,
                             CollectionKeys=collections_of.CollectionKeys, **top),
             **{f"smdebug.{name}": each for name, each in top.items()}, **{f"smdebug.core.{name}": each for name, each in core.items()},
             "smdebug.analysis.utils": utils, "smdebug.rules.rule": rule, "smdebug.rules.rule_invoker": rule_invoker,
             "smdebug.rules.req_tensors": req_tensors, "smdebug.rules.action": action}
    sys.modules.update(found)
