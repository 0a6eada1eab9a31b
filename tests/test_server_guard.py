"""Who may look at the live page."""

import http.client
from urllib.parse import urlsplit

import pytest

from nhmech.view.server import Server


@pytest.mark.parametrize("path", ["/", "/scene"])
@pytest.mark.parametrize("host, served", [("127.0.0.1:80", True), ("localhost:8080", True),
                                          ("evil.example", False),
                                          ("127.0.0.1.evil.example", False)])
def test_only_names_of_this_machine_are_served(path, host, served):
    server = Server("a page")
    try:
        asked = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=20)
        asked.request("GET", path, headers={"Host": host})
        status = asked.getresponse().status
    finally:
        server.close()
    assert (status == 403) == (not served)
