#!/bin/sh
# Feign 13.6 (Maven; needs Java 17) as it comes: a POST whose answer has Retry-After: 60.
# Guess: a FeignException at once, or one more request after a minute; a POST, and a 400, are not sent again.
# Seen: whatever the status and the method, the request is sent five times, a second apart at most: the time that the server
# asks for is cut to one second. Without the header it is sent once. Retryer.NEVER_RETRY sends it once.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>a</groupId><artifactId>a</artifactId><version>1</version><dependencies><dependency>
<groupId>io.github.openfeign</groupId><artifactId>feign-core</artifactId><version>13.6</version>
</dependency></dependencies></project>
XML
cat >Look.java <<'JAVA'
import com.sun.net.httpserver.HttpServer;
import feign.*;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

public class Look {
  interface Todos {
    @RequestLine("POST /{status}/{after}")
    @Headers("Content-Type: application/json")
    @Body("{body}")
    String create(@Param("status") int status, @Param("after") String after, @Param("body") String body);
  }

  public static void main(String[] args) throws Exception {
    var requests = new AtomicInteger();
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
    for (var retryer : List.of(new Retryer.Default(), Retryer.NEVER_RETRY)) {
      Todos todos = Feign.builder().retryer(retryer).target(Todos.class, base);
      for (var answer : new String[] {"503 none", "503 60", "409 60", "400 60"}) {
        var parts = answer.split(" ");
        requests.set(0);
        try {
          todos.create(Integer.parseInt(parts[0]), parts[1], "todo");
        } catch (FeignException error) {
          System.out.println((retryer == Retryer.NEVER_RETRY ? "never retry" : "as it comes")
            + ", status and Retry-After " + answer + ": " + requests + " sent, " + error.getClass().getSimpleName());
        }
      }
    }
    server.stop(0);
  }
}
JAVA
mvn --quiet --batch-mode -Dstyle.color=never dependency:build-classpath -Dmdep.outputFile=path >log || cat log
javac -proc:none -cp "$(cat path)" -d . Look.java
java -version 2>&1 | head -n 1
echo 'Feign 13.6'
timeout 120 java -cp "$(cat path):." Look | tee seen
for status in 503 409 400; do
  grep -qx "as it comes, status and Retry-After $status 60: 5 sent, RetryableException" seen
  grep -q "^never retry, status and Retry-After $status 60: 1 sent" seen
done
grep -q '^as it comes, status and Retry-After 503 none: 1 sent' seen
