# SPDX-License-Identifier: Apache-2.0
"""Runs in an object store (moto) say what they say in a folder; what is missing there is reported by its name."""
import os
import sys
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/python"))
try:
    import boto3
    from moto.server import ThreadedMotoServer
    import spotter as st
    from spotter.rules import Rule, invoke_rule
except ImportError as why:
    print("SPOTTER_SKIP:", why)
    sys.exit(2)

GOLDEN = ROOT / "tests/golden/runs"


def reported(run) -> list:
    """Everything that a run answers, as one list."""
    said = [run.status(), run.closed_steps(), run.names(), [str(each) for each in run.steps()], len(run.damage()), len(run.findings())]
    for name in run.names():
        for step in run[name].steps():
            try:
                value = run[name].value(step)
                said.append((name, str(step), value if isinstance(value, (str, float, int)) else value.tobytes()))
            except st.SpotterError as why:
                said.append((name, str(step), type(why).__name__))
    return said


class InAStore(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
        cls.server.start()
        host, port = cls.server.get_host_and_port()
        os.environ.update(AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}", AWS_ACCESS_KEY_ID="a", AWS_SECRET_ACCESS_KEY="b",
                          AWS_DEFAULT_REGION="us-east-1")
        cls.client = boto3.client("s3")
        cls.client.create_bucket(Bucket="golden")
        for each in sorted(GOLDEN.rglob("*")):
            if each.is_file():
                cls.client.put_object(Bucket="golden", Key=str(each.relative_to(GOLDEN)), Body=each.read_bytes())

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def test_says_what_the_folder_says(self):
        runs = sorted({each.relative_to(GOLDEN).parts[0] for each in GOLDEN.rglob("*.spot")})
        self.assertGreater(len(runs), 3)
        for name in runs:
            with self.subTest(name):
                here = st.open_trial(GOLDEN / name)
                self.assertEqual(reported(st.open_trial(f"s3://golden/{name}")), reported(here))

    def test_sign_of_life(self):
        name = sorted({each.relative_to(GOLDEN).parts[0] for each in GOLDEN.rglob("*.spot")})[0]
        source = GOLDEN / name / "000000.spot"
        body = source.read_bytes()
        self.client.put_object(Bucket="golden", Key="live/000000.spot", Body=body[: len(body) // 2])
        self.client.put_object(Bucket="golden", Key="live/alive", Body=b"spotter alive 1\nevery 60\n")
        run = st.open_trial("s3://golden/live")
        self.assertEqual(run.status(), "running")
        self.client.put_object(Bucket="golden", Key="live/alive", Body=b"spotter alive 1\nover\n")
        time.sleep(1.1)
        run.refresh()
        self.assertEqual(run.status(), "died")

    def test_smdebugs_calls_and_rules(self):
        there, here = st.create_trial("s3://golden/1-training"), st.create_trial(GOLDEN / "1-training")
        self.assertEqual((there.name, there.steps(), there.tensor_names(regex="fc")), (here.name, here.steps(), here.tensor_names(regex="fc")))
        self.assertEqual([each.tobytes() for each in there.tensor("fc/w").values().values()],
                         [each.tobytes() for each in here.tensor("fc/w").values().values()])

        class Always(Rule):
            def invoke_at_step(self, step):
                return True

        self.assertEqual(len(invoke_rule(Always(there))), 30)
        body = (GOLDEN / "1-training" / "000000.spot").read_bytes()
        self.client.put_object(Bucket="golden", Key="goes-on/000000.spot", Body=body[: len(body) // 2])
        self.client.put_object(Bucket="golden", Key="goes-on/alive", Body=b"spotter alive 1\nevery 60\n")
        rule = Always(st.create_trial("s3://golden/goes-on"), action_str='{"name": "StopTraining"}')
        first = rule.base_trial.steps()[0]
        self.assertEqual(invoke_rule(rule, first, first + 1), [first])
        self.assertIn("is a mirror", rule._actions.failures[0])  # a loop looks into the folder that it records into

    def test_what_is_not_there(self):
        with self.assertRaises(st.NotARun):
            st.open_trial("s3://golden/nothing")
        with self.assertRaises(st.IoError) as met:
            st.open_trial("s3://no-such-bucket/run")
        self.assertIn("NoSuchBucket", str(met.exception))
        os.environ["AWS_ENDPOINT_URL"], before = "http://127.0.0.1:9", os.environ["AWS_ENDPOINT_URL"]
        os.environ["AWS_MAX_ATTEMPTS"] = "1"
        try:
            with self.assertRaises(st.IoError):
                st.open_trial("s3://golden/run")
        finally:
            os.environ["AWS_ENDPOINT_URL"] = before


if __name__ == "__main__":
    unittest.main()
