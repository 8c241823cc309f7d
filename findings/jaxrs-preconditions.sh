#!/bin/sh
# Jersey 4.0.2, RESTEasy 7.0.1 and CXF 4.2.3 (Maven; need Java 17): one class that calls Request.evaluatePreconditions(tag).
# Guess: the three say the same, what RFC 9110 §13.1 has: If-None-Match compares weakly, * is any tag, a list has several.
# Seen: RESTEasy and CXF compare If-None-Match strongly, so that W/"a", as a proxy makes it that compresses, is never a 304.
# CXF takes a list for one tag: it never is a 304, and in If-Match a 412. Where the tag of the resource is weak, Jersey takes
# If-Match: * for a 412, and lets a PUT with If-None-Match: * (only if there is none) write over what is there.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
dependency() { echo "<dependency><groupId>$1</groupId><artifactId>$2</artifactId><version>$3</version></dependency>"; }
cat >pom.xml <<XML
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>a</groupId><artifactId>a</artifactId><version>1</version><dependencies>
$(dependency org.jboss.resteasy resteasy-core 7.0.1.Final)
$(dependency org.glassfish.jersey.inject jersey-hk2 4.0.2)
$(dependency org.glassfish.jersey.containers jersey-container-jdk-http 4.0.2)
$(dependency org.apache.cxf cxf-rt-frontend-jaxrs 4.2.3)
$(dependency org.apache.cxf cxf-rt-transports-http-jetty 4.2.3)
</dependencies></project>
XML
cat >Look.java <<'JAVA'
import jakarta.ws.rs.*;
import jakarta.ws.rs.core.*;
import java.net.URI;
import java.net.http.*;
import org.apache.cxf.jaxrs.JAXRSServerFactoryBean;
import org.glassfish.jersey.jdkhttp.JdkHttpServerFactory;
import org.glassfish.jersey.server.ResourceConfig;
import org.jboss.resteasy.mock.*;

public class Look {
  @Path("/{kind}")
  public static class Todo {
    @Context Request request;

    Response answer(String kind, Response.ResponseBuilder done) {
      var refused = request.evaluatePreconditions(new EntityTag("a", kind.equals("weak")));
      return (refused == null ? done : refused).build();
    }

    @GET public Response read(@PathParam("kind") String kind) { return answer(kind, Response.ok("todo")); }

    @PUT public Response write(@PathParam("kind") String kind) { return answer(kind, Response.noContent()); }
  }

  static int ask(String base, String[] each) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(base + each[1])).header(each[2], each[3]);
    request.method(each[0], HttpRequest.BodyPublishers.noBody());
    return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.discarding()).statusCode();
  }

  public static void main(String[] args) throws Exception {
    JdkHttpServerFactory.createHttpServer(URI.create("http://127.0.0.1:18331/"), new ResourceConfig(Todo.class));
    var cxf = new JAXRSServerFactoryBean();
    cxf.setResourceClasses(Todo.class);
    cxf.setAddress("http://127.0.0.1:18332/");
    cxf.create();
    var resteasy = MockDispatcherFactory.createDispatcher();
    resteasy.getRegistry().addPerRequestResource(Todo.class);
    for (var each : new String[][] {
      {"GET", "/strong", "If-None-Match", "\"a\""}, {"GET", "/strong", "If-None-Match", "W/\"a\""},
      {"GET", "/strong", "If-None-Match", "\"b\", \"a\""}, {"PUT", "/strong", "If-Match", "\"b\", \"a\""},
      {"PUT", "/strong", "If-Match", "*"}, {"PUT", "/strong", "If-None-Match", "*"},
      {"PUT", "/weak", "If-Match", "*"}, {"PUT", "/weak", "If-None-Match", "*"},
    }) {
      var answer = new MockHttpResponse();
      resteasy.invoke(MockHttpRequest.create(each[0], each[1]).header(each[2], each[3]), answer);
      System.out.println(String.join(" ", each) + ": Jersey " + ask("http://127.0.0.1:18331", each)
        + ", RESTEasy " + answer.getStatus() + ", CXF " + ask("http://127.0.0.1:18332", each));
    }
    System.exit(0);
  }
}
JAVA
mvn --quiet --batch-mode -Dstyle.color=never dependency:build-classpath -Dmdep.outputFile=path >log || cat log
javac -proc:none -cp "$(cat path)" -d . Look.java
java -version 2>&1 | head -n 1
echo 'Jersey 4.0.2, RESTEasy 7.0.1.Final, CXF 4.2.3'
timeout 120 java -cp "$(cat path):." Look 2>log | tee seen
[ -s seen ] || cat log
says() { grep -qxF "$1: Jersey $2, RESTEasy $3, CXF $4" seen; }
says 'GET /strong If-None-Match "a"' 304 304 304
says 'GET /strong If-None-Match W/"a"' 304 200 200
says 'GET /strong If-None-Match "b", "a"' 304 304 200
says 'PUT /strong If-Match "b", "a"' 204 204 412
says 'PUT /strong If-Match *' 204 204 204
says 'PUT /strong If-None-Match *' 412 412 412
says 'PUT /weak If-Match *' 412 204 204
says 'PUT /weak If-None-Match *' 204 412 412
