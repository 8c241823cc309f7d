#!/bin/sh
# quarkus-resteasy-problem 3.21.0 with RESTEasy 6.2.11 (Maven; needs Java 17): its mapper for REST clients reads a 404.
# Guess: the HttpProblem has the status of the answer, since RFC 9457 §3.1 leaves the member `status` to the server, and
# the `instance` that the server named.
# Seen: where the body has no `status`, the 404 is thrown as a problem with 500. The `instance` is always removed.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
dependency() { echo "<dependency><groupId>$1</groupId><artifactId>$2</artifactId><version>$3</version></dependency>"; }
cat >pom.xml <<XML
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>a</groupId><artifactId>a</artifactId><version>1</version><dependencies>
$(dependency io.quarkiverse.resteasy-problem quarkus-resteasy-problem 3.21.0)
$(dependency org.jboss.resteasy resteasy-client 6.2.11.Final)
$(dependency org.jboss.resteasy resteasy-jackson2-provider 6.2.11.Final)
$(dependency org.eclipse.microprofile.rest.client microprofile-rest-client-api 4.0)
</dependencies></project>
XML
cat >Look.java <<'JAVA'
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.sun.net.httpserver.HttpServer;
import io.quarkiverse.resteasy.problem.HttpProblem;
import io.quarkiverse.resteasy.problem.client.ThrowingHttpProblemClientExceptionMapper;
import io.quarkiverse.resteasy.problem.jackson.JacksonProblemDeserializer;
import jakarta.ws.rs.client.ClientBuilder;
import jakarta.ws.rs.ext.ContextResolver;
import java.net.InetSocketAddress;
import java.util.List;

public class Look {
  static class Mapper implements ContextResolver<ObjectMapper> {
    public ObjectMapper getContext(Class<?> type) {
      var mapper = new ObjectMapper();
      return mapper.registerModule(new SimpleModule().addDeserializer(HttpProblem.class, new JacksonProblemDeserializer(mapper)));
    }
  }

  public static void main(String[] args) throws Exception {
    var bodies = List.of("{\"title\":\"No milk\",\"status\":404,\"instance\":\"/todos/1\"}", "{\"title\":\"No milk\",\"instance\":\"/todos/1\"}");
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    for (int at = 0; at < 2; at += 1) {
      byte[] body = bodies.get(at).getBytes();
      server.createContext("/" + at, exchange -> {
        exchange.getResponseHeaders().set("Content-Type", "application/problem+json");
        exchange.sendResponseHeaders(404, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
      });
    }
    server.start();
    var client = ClientBuilder.newBuilder().register(new Mapper()).build();
    for (int at = 0; at < 2; at += 1) {
      var answer = client.target("http://127.0.0.1:" + server.getAddress().getPort() + "/" + at).request().get();
      var thrown = (HttpProblem) new ThrowingHttpProblemClientExceptionMapper().toThrowable(answer);
      System.out.println(answer.getStatus() + " " + bodies.get(at) + " -> " + thrown.getStatusCode() + ", instance " + thrown.getInstance());
    }
    server.stop(0);
    System.exit(0);
  }
}
JAVA
mvn --quiet --batch-mode -Dstyle.color=never dependency:build-classpath -Dmdep.outputFile=path >log || cat log
javac -proc:none -cp "$(cat path)" -d . Look.java
java -version 2>&1 | head -n 1
echo 'quarkus-resteasy-problem 3.21.0, RESTEasy 6.2.11.Final'
timeout 60 java -cp "$(cat path):." Look 2>log | tee seen
[ -s seen ] || cat log
grep -q '^404 .*"status":404.* -> 404, instance null$' seen
grep -q '^404 {"title":"No milk","instance":"/todos/1"} -> 500, instance null$' seen
