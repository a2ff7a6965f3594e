"""The function that awslambdaric runs. The event tells it what to do."""

import os
import pathlib
import time


def handler(event, context):
    command, _, argument = event.partition(" ")
    match command:
        case "respond":
            return "x" * int(argument)
        case "context":
            print("printed by the function")
            return {
                "name": context.function_name,
                "memory": context.memory_limit_in_mb,
                "version": context.function_version,
                "request_id": context.aws_request_id,
                "arn": context.invoked_function_arn,
                "custom": context.client_context.custom,
                "tenant": context.tenant_id,
                "in_time": 0 < context.get_remaining_time_in_millis() <= 120_000,
                "trace": os.environ["_X_AMZN_TRACE_ID"],
            }
        case "fail":
            raise LookupError("no such fruit")
        case "exit":
            os._exit(3)
        case "meet":
            # In files, because the other calls run in other processes.
            pathlib.Path(f"met-{argument}").touch()
            while len(list(pathlib.Path().glob("met-*"))) < 4:
                time.sleep(0.005)
            return event
        case "forget":
            for met in pathlib.Path().glob("met-*"):
                met.unlink()
    return event
