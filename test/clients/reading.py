"""The reading examples of the Python package `zulip`, against a sandbox: prints one JSON object a line."""
import json
import sys

import zulip

email, key, site = sys.argv[1:4]
client = zulip.Client(email=email, api_key=key, site=site)
narrow = [{"operator": "channel", "operand": "general"}]
calls = {
    "get_server_settings": lambda: client.get_server_settings(),
    "get_profile": lambda: client.get_profile(),
    "get_members": lambda: client.get_members(),
    "get_streams": lambda: client.get_streams(),
    "get_stream_id": lambda: client.get_stream_id("general"),
    "get_stream_topics": lambda: client.get_stream_topics(1),
    "get_messages": lambda: client.get_messages({"anchor": "newest", "num_before": 2, "num_after": 0, "narrow": narrow}),
    "get_raw_message": lambda: client.get_raw_message(1001),
    "get_subscriptions": lambda: client.get_subscriptions(),
    "send_message": lambda: client.send_message({"type": "stream", "to": "general", "topic": "py", "content": "hello"}),
    "register": lambda: client.register(event_types=["message"]),
}
for name, call in calls.items():
    answer = call()
    print(json.dumps({"call": name, "result": answer["result"], "code": answer.get("code"), "keys": sorted(answer)}))
