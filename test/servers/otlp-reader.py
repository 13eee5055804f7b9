"""Reads trace messages with the protobuf classes that OpenTelemetry publishes: base64, one a line on standard input; JSON on standard output."""
import base64
import json
import sys

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

messages = []
for line in sys.stdin:
    message = ExportTraceServiceRequest()
    message.ParseFromString(base64.b64decode(line))
    messages.append(MessageToDict(message))
json.dump(messages, sys.stdout)
