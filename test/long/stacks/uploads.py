"""Posts 5 MB to a URL, ten times, and prints the statuses."""

import sys
from http.client import HTTPConnection
from urllib.parse import urlsplit

url = urlsplit(sys.argv[1])
for _ in range(10):
    connection = HTTPConnection(url.hostname, url.port)
    connection.request("POST", url.path, bytes(5 * 1024 * 1024))
    print(connection.getresponse().status)
    connection.close()
