import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

/** Asks for a URL so many times, one after the other, and prints the statuses. */
class Gets {
  public static void main(String[] args) throws Exception {
    var client = HttpClient.newHttpClient();
    var request = HttpRequest.newBuilder(URI.create(args[0])).build();
    for (var left = Integer.parseInt(args[1]); left > 0; left -= 1) {
      System.out.println(client.send(request, BodyHandlers.ofString()).statusCode());
    }
  }
}
