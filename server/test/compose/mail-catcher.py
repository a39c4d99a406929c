"""Stands in for Mailpit: takes mail by SMTP, and answers the part of Mailpit's API that the test uses."""

import email
import email.policy
import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from aiosmtpd.controller import Controller

mails = []


class Catcher:
    async def handle_DATA(self, server, session, envelope):
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        mails.append({"To": [{"Address": to} for to in envelope.rcpt_tos], "Text": mail.get_body(["plain"]).get_content()})
        return "250 OK"


class Pages(BaseHTTPRequestHandler):
    def do_GET(self):
        latest = mails[-1] if self.path == "/api/v1/message/latest" and mails else None
        self.send_response(200 if latest else 404)
        self.end_headers()
        self.wfile.write(json.dumps(latest).encode())


Controller(Catcher(), hostname="0.0.0.0", port=1025).start()
print(f"ready {time.time():.0f}", flush=True)
ThreadingHTTPServer(("0.0.0.0", 8025), Pages).serve_forever()
