#!/bin/sh
# Apache HttpClient 5.6.5 and OkHttp 5.3.0 (Maven; need Java 17) as they come: a POST that gets an error.
# Guess: it is sent once, since a client does not repeat by itself what is not idempotent (RFC 9110 §9.2.2).
# Seen: HttpClient sends it again, after a second or Retry-After, where the answer is 503 or 429; OkHttp sends it again at
# once on a 408, and on a 503 with Retry-After: 0. The caller sees the second answer alone. Switched off by
# disableAutomaticRetries(), and retryOnConnectionFailure(false) for the 408.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
dependency() { echo "<dependency><groupId>$1</groupId><artifactId>$2</artifactId><version>$3</version></dependency>"; }
cat >pom.xml <<XML
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>a</groupId><artifactId>a</artifactId><version>1</version><dependencies>
$(dependency org.apache.httpcomponents.client5 httpclient5 5.6.5)
$(dependency com.squareup.okhttp3 okhttp-jvm 5.3.0)
$(dependency org.slf4j slf4j-nop 1.7.36)
</dependencies></project>
XML
cat >Look.java <<'JAVA'
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicInteger;
import okhttp3.*;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.core5.http.io.entity.StringEntity;

public class Look {
  interface Client { int post(String address) throws Exception; }
  static AtomicInteger requests = new AtomicInteger();

  static void look(String name, Client client, String base) throws Exception {
    for (var path : new String[] {"/503/none", "/503/0", "/429/none", "/408/none", "/500/none"}) {
      requests.set(0);
      System.out.println(name + " " + path + ": " + client.post(base + path) + ", sent " + requests);
    }
  }

  public static void main(String[] args) throws Exception {
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext("/", exchange -> {
      exchange.getRequestBody().readAllBytes();
      requests.incrementAndGet();
      var parts = exchange.getRequestURI().getPath().split("/");
      if (!parts[2].equals("none")) exchange.getResponseHeaders().set("Retry-After", parts[2]);
      exchange.sendResponseHeaders(Integer.parseInt(parts[1]), -1);
      exchange.close();
    });
    server.start();
    String base = "http://127.0.0.1:" + server.getAddress().getPort();
    var builders = new Object[] {HttpClients.custom(), HttpClients.custom().disableAutomaticRetries()};
    for (int at = 0; at < 2; at += 1) {
      try (var client = ((org.apache.hc.client5.http.impl.classic.HttpClientBuilder) builders[at]).build()) {
        look(at == 0 ? "HttpClient" : "HttpClient, no retries", address -> {
          var post = new HttpPost(address);
          post.setEntity(new StringEntity("{}"));
          return client.execute(post, answer -> answer.getCode());
        }, base);
      }
      var client = new OkHttpClient.Builder().retryOnConnectionFailure(at == 0).build();
      look(at == 0 ? "OkHttp" : "OkHttp, no retries", address -> {
        var request = new Request.Builder().url(address).post(RequestBody.create("{}".getBytes())).build();
        try (var answer = client.newCall(request).execute()) { return answer.code(); }
      }, base);
    }
    server.stop(0);
    System.exit(0);
  }
}
JAVA
mvn --quiet --batch-mode -Dstyle.color=never dependency:build-classpath -Dmdep.outputFile=path >log || cat log
javac -proc:none -cp "$(cat path)" -d . Look.java
java -version 2>&1 | head -n 1
echo 'Apache HttpClient 5.6.5, OkHttp 5.3.0'
timeout 120 java -cp "$(cat path):." Look | tee seen
for path in /503/none /503/0 /429/none; do grep -q "^HttpClient $path: .*, sent 2$" seen; done
for path in /408/none /500/none; do grep -q "^HttpClient $path: .*, sent 1$" seen; done
for path in /408/none /503/0; do grep -q "^OkHttp $path: .*, sent 2$" seen; done
for path in /503/none /429/none /500/none; do grep -q "^OkHttp $path: .*, sent 1$" seen; done
[ "$(grep -c '^HttpClient, no retries .*, sent 1$' seen)" = 5 ]
grep -q '^OkHttp, no retries /408/none: 408, sent 1$' seen
