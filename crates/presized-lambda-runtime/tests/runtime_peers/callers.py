"""Calls the functions of an emulator, whose endpoint is the argument."""

import base64
import json
import sys

import boto3
from botocore.config import Config

CHUNKS = b"apple" + bytes(8) + b"pear"
REPORT = {"errorType": "Function.NoFruit", "errorMessage": "no such fruit"}

client = boto3.client(
    "lambda",
    endpoint_url=sys.argv[1],
    region_name="eu-central-1",
    aws_access_key_id="AKIDEXAMPLE",
    aws_secret_access_key="secret",
    config=Config(retries={"total_max_attempts": 1}),
)
# What has come of the calls to the function.
responses = errors = 0


def invoke(payload, **more):
    return client.invoke(**{"FunctionName": "fruit", "Payload": payload, **more})


def stream(payload, **more):
    answer = client.invoke_with_response_stream(FunctionName="fruit", Payload=payload, **more)
    assert answer["StatusCode"] == 200, answer
    *chunks, end = answer["EventStream"]
    payload = b"".join(chunk["PayloadChunk"]["Payload"] for chunk in chunks)
    return payload, end["InvokeComplete"]


def refused(call, error):
    try:
        call()
    except error as refusal:
        return refusal.response
    raise AssertionError(f"no {error}")


def is_report(payload):
    report = json.loads(payload)
    return {key: report[key] for key in REPORT} == REPORT


for length in (0, 1, 2047, 2048, 2049, 60_000, 6_000_000):
    payload = bytes(range(256)) * (length // 256 + 1)
    answer = invoke(payload[:length])
    assert answer["StatusCode"] == 200 and "FunctionError" not in answer, answer
    assert answer["ExecutedVersion"] == "$LATEST", answer
    assert answer["Payload"].read() == payload[:length], length
    responses += 1

ARN = "arn:aws:lambda:eu-central-1:123456789012:function:fruit"
for name in ("fruit:live", "123456789012:function:fruit", ARN, ARN + ":7"):
    assert invoke(b"1", FunctionName=name)["Payload"].read() == b"1", name
    responses += 1
assert invoke(b"1", Qualifier="7")["ExecutedVersion"] == "7"
responses += 1

context = base64.b64encode(b'{"custom":{"a":1}}').decode()
answer = invoke(b"context", ClientContext=context)["Payload"].read()
assert b"custom" in answer and b":function:fruit" in answer, answer
responses += 1

answer = invoke(b"log", LogType="Tail")
log = base64.b64decode(answer["LogResult"]).decode()
request_id = answer["ResponseMetadata"]["RequestId"]
assert log.startswith(f"START RequestId: {request_id} "), log
assert f"REPORT RequestId: {request_id}" in log, log
responses += 1

answer = invoke(b"fail")
assert (answer["StatusCode"], answer["FunctionError"]) == (200, "Unhandled"), answer
assert is_report(answer["Payload"].read())
errors += 1

answer = invoke(b"answer 6291557")
assert answer["FunctionError"] == "Unhandled", answer
report = json.loads(answer["Payload"].read())
assert report["errorType"] == "Function.ResponseSizeTooLarge", report
errors += 1

answer = invoke(b"queued", InvocationType="Event")
assert (answer["StatusCode"], answer["Payload"].read()) == (202, b""), answer
responses += 1
answer = invoke(b"not run", InvocationType="DryRun")
assert (answer["StatusCode"], answer["Payload"].read()) == (204, b""), answer

payload, end = stream(b"stream", LogType="Tail")
assert payload == CHUNKS and "ErrorCode" not in end, end
assert b"REPORT RequestId: " in base64.b64decode(end["LogResult"]), end
responses += 1
payload, end = stream(b"answer 6291556")
assert len(payload) == 6291556 and "ErrorCode" not in end, end
responses += 1
payload, end = stream(b"broken")
assert payload == CHUNKS, payload
assert end["ErrorCode"] == "Function.NoFruit" and is_report(end["ErrorDetails"]), end
errors += 1
payload, end = stream(b"fail")
assert payload == b"", payload
assert end["ErrorCode"] == "Function.NoFruit" and is_report(end["ErrorDetails"]), end
errors += 1

error = client.exceptions
missing = refused(lambda: invoke(b"", FunctionName="nobody"), error.ResourceNotFoundException)
assert missing["ResponseMetadata"]["HTTPStatusCode"] == 404, missing
busy = refused(lambda: invoke(b"", FunctionName="busy"), error.TooManyRequestsException)
assert busy["Reason"] and busy["retryAfterSeconds"], busy
# Not one of those that the SDK knows by name.
for length, kind in ((6 << 20, "RequestResponse"), (1 << 20, "Event")):
    large = refused(lambda: invoke(bytes(length + 1), InvocationType=kind), error.ClientError)
    assert large["Error"]["Code"] == "RequestEntityTooLargeException", large
    assert large["ResponseMetadata"]["HTTPStatusCode"] == 413, large

# After what was queued, since there is one runtime.
assert invoke(b"last")["Payload"].read() == b"last"
responses += 1
print(responses + errors, responses, errors, sep="\n")
