import java.net.HttpURLConnection;
import java.net.URI;

/** Posts 5 MB to a URL, ten times, and prints the statuses. */
class Uploads {
  public static void main(String[] args) throws Exception {
    var body = new byte[5 * 1024 * 1024];
    for (var left = 10; left > 0; left -= 1) {
      var connection = (HttpURLConnection) URI.create(args[0]).toURL().openConnection();
      connection.setDoOutput(true);
      connection.setRequestMethod("POST");
      connection.setFixedLengthStreamingMode(body.length);
      try (var out = connection.getOutputStream()) {
        out.write(body);
      }
      System.out.println(connection.getResponseCode());
      connection.disconnect();
    }
  }
}
