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
# The outcomes of the calls to the function.
responses = errors = 0


def invoke(payload, **more):
    return client.invoke(**{"FunctionName": "fruit", "Payload": payload, **more})


def stream(payload, **more):
    response = client.invoke_with_response_stream(FunctionName="fruit", Payload=payload, **more)
    assert response["StatusCode"] == 200, response
    *chunks, end = response["EventStream"]
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
    response = invoke(payload[:length])
    assert response["StatusCode"] == 200 and "FunctionError" not in response, response
    assert response["ExecutedVersion"] == "$LATEST", response
    # The event of a call without a payload is an empty object.
    assert response["Payload"].read() == (payload[:length] or b"{}"), length
    responses += 1

ARN = "arn:aws:lambda:eu-central-1:123456789012:function:fruit"
for name in ("fruit:live", "123456789012:function:fruit", ARN, ARN + ":7"):
    assert invoke(b"1", FunctionName=name)["Payload"].read() == b"1", name
    responses += 1
assert invoke(b"1", Qualifier="7")["ExecutedVersion"] == "7"
responses += 1

context = base64.b64encode(b'{"custom":{"a":1}}').decode()
response = invoke(b"context", ClientContext=context)["Payload"].read()
assert b"custom" in response and b":function:fruit" in response, response
responses += 1

response = invoke(b"log", LogType="Tail")
log = base64.b64decode(response["LogResult"]).decode()
request_id = response["ResponseMetadata"]["RequestId"]
assert log.startswith(f"START RequestId: {request_id} "), log
assert f"REPORT RequestId: {request_id}" in log, log
responses += 1

response = invoke(b"fail")
assert (response["StatusCode"], response["FunctionError"]) == (200, "Unhandled"), response
assert is_report(response["Payload"].read())
errors += 1

response = invoke(b"respond 6291557")
assert response["FunctionError"] == "Unhandled", response
report = json.loads(response["Payload"].read())
assert report["errorType"] == "Function.ResponseSizeTooLarge", report
errors += 1

response = invoke(b"queued", InvocationType="Event")
assert (response["StatusCode"], response["Payload"].read()) == (202, b""), response
responses += 1
response = invoke(b"not run", InvocationType="DryRun")
assert (response["StatusCode"], response["Payload"].read()) == (204, b""), response

payload, end = stream(b"stream", LogType="Tail")
assert payload == CHUNKS and "ErrorCode" not in end, end
assert b"REPORT RequestId: " in base64.b64decode(end["LogResult"]), end
responses += 1
payload, end = stream(b"respond 6291556")
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
# The SDK has no class for this error.
for length, kind in ((6 << 20, "RequestResponse"), (1 << 20, "Event")):
    large = refused(lambda: invoke(bytes(length + 1), InvocationType=kind), error.ClientError)
    assert large["Error"]["Code"] == "RequestEntityTooLargeException", large
    assert large["ResponseMetadata"]["HTTPStatusCode"] == 413, large

# Runs after the queued call, because there is one runtime.
assert invoke(b"last")["Payload"].read() == b"last"
responses += 1
print(responses + errors, responses, errors, sep="\n")
