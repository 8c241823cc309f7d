#!/bin/sh
# Nimbus OAuth SDK 11.39 (Maven; needs Java 11) as the resource, dpop 2.1.2 (npm) as the client: the `htu` of a DPoP proof.
# Guess: the resource takes proofs for any spelling of its address, which RFC 9449 §4.3 has it normalize: host without a
# path or with `/`, with its default port, in capitals.
# Seen: DPoPProtectedResourceRequestVerifier compares letter by letter. Node.js makes `https://api.example/` of
# `https://api.example`, so that a resource which is configured without the slash refuses every proof of such a client.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund dpop@2.1.2
cat >client.mjs <<'JS'
import { calculateThumbprint, generateKeyPair, generateProof } from 'dpop';
const pair = await generateKeyPair('ES256');
const { origin, pathname } = new URL(process.argv[2]);
const proof = await generateProof(pair, origin + pathname, 'GET', undefined, 'token');
console.log(`${origin + pathname} ${await calculateThumbprint(pair.publicKey)} ${proof}`);
JS
cat >pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>a</groupId><artifactId>a</artifactId><version>1</version><dependencies><dependency>
<groupId>com.nimbusds</groupId><artifactId>oauth2-oidc-sdk</artifactId><version>11.39</version>
</dependency></dependencies></project>
XML
cat >Resource.java <<'JAVA'
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.util.Base64URL;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.oauth2.sdk.dpop.JWKThumbprintConfirmation;
import com.nimbusds.oauth2.sdk.dpop.verifiers.*;
import com.nimbusds.oauth2.sdk.token.DPoPAccessToken;
import java.net.URI;
import java.util.*;

public class Resource {
  public static void main(String[] args) throws Exception {
    var verifier = new DPoPProtectedResourceRequestVerifier(new HashSet<>(List.of(JWSAlgorithm.ES256)), 5, 60, null);
    var key = new JWKThumbprintConfirmation(new Base64URL(args[2]));
    String said = "taken";
    try {
      verifier.verify("GET", URI.create(args[0]), new DPoPIssuer("a"), SignedJWT.parse(args[3]), new DPoPAccessToken("token"), key);
    } catch (InvalidDPoPProofException error) {
      said = error.getMessage();
    }
    System.out.println(args[0] + ", htu " + args[1] + ": " + said);
  }
}
JAVA
mvn --quiet --batch-mode -Dstyle.color=never dependency:build-classpath -Dmdep.outputFile=path >log || cat log
javac -proc:none -XDsuppressNotes -cp "$(cat path)" -d . Resource.java
java -version 2>&1 | head -n 1
echo "Node.js $(node --version), dpop 2.1.2, Nimbus OAuth SDK 11.39"
for address in https://api.example/a 'https://api.example/a?b=1' https://api.example https://api.example:443/a https://API.example/a; do
  java -cp "$(cat path):." Resource "$address" $(node client.mjs "$address")
done | tee seen
[ "$(grep -c ': taken$' seen)" = 2 ] && [ "$(grep -c ': Invalid DPoP proof: JWT htu claim value rejected$' seen)" = 3 ]
