/**
 * `tools/runtime/node test/generators/run.ts [<name>…]`: what generators make of both OpenAPI documents compiles, and a short
 * program (`uses/`) works with it against the services. The generators are pinned; the libraries that their code asks for are the newest that
 * it admits. A generator is left out, and says so, where a program that it needs is not on this machine.
 */
import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { signer } from '../../packages/conformance/src/sign.ts';
import { outputOf, run } from '../../tools/command.ts';
import { startService } from '../support/start.ts';

interface Generator {
  /** Programs of this machine. */
  readonly needs: readonly string[];
  /** Generates, compiles and runs, in a new folder beside the documents. */
  readonly script: string;
}

const EACH = 'for name in shared_list error_demo; do';

const JAR = 'openapi-generator-cli';
const JAR_VERSION = '7.17.0';

/** By openapi-generator; its tests for Go import a package of nobody's. */
const generate = (language: string, properties: string) => `
  mvn -q -B dependency:copy -Dartifact=org.openapitools:${JAR}:${JAR_VERSION} -DoutputDirectory=..
  ${EACH} java -Dlog.level=error -jar ../${JAR}-${JAR_VERSION}.jar generate -g ${language} -i ../$name.json -o $name \\
    --global-property apiTests=false,modelTests=false --additional-properties packageName=$name,${properties} >log
  done`;

const install = (packages: string) => `
  python3 -m venv venv
  venv/bin/pip install --quiet ${packages}`;

const buildGo = (program: string) => `
  cp ../../uses/${program} main.go
  go mod init made && go mod tidy && go vet ./... && go build -o use . && ./use`;

const GENERATORS: Readonly<Record<string, Generator>> = {
  'openapi-typescript': {
    needs: [],
    script: `
      ${EACH} ../../node_modules/.bin/openapi-typescript ../$name.json -o $name.ts; done
      ../../node_modules/.bin/tsc --project ../..
      ../../../../tools/runtime/node ../../uses/openapi-fetch.ts`,
  },
  'openapi-python-client': {
    needs: ['python3'],
    script: `${install('openapi-python-client==0.29.1')}
      echo 'post_hooks: []' >config.yaml
      ${EACH} venv/bin/openapi-python-client generate --config config.yaml --fail-on-warning --meta none \\
        --path ../$name.json --output-path $name
      done
      venv/bin/python -m compileall -q shared_list error_demo
      PYTHONPATH=. venv/bin/python ../../uses/openapi_python_client.py`,
  },
  'openapi-generator-python': {
    needs: ['java', 'mvn', 'python3'],
    script: `${generate('python', '')}${install('-r shared_list/requirements.txt')}
      venv/bin/python -m compileall -q shared_list error_demo
      PYTHONPATH=shared_list:error_demo venv/bin/python ../../uses/openapi_generator.py`,
  },
  'openapi-generator-java': {
    needs: ['java', 'mvn', 'javac'],
    script: `${generate('java', 'library=native,invokerPackage=$name,apiPackage=$name.api,modelPackage=$name.model')}
      mvn -q -B -f shared_list/pom.xml dependency:copy-dependencies -DoutputDirectory="$PWD/jars"
      javac -d classes -cp 'jars/*' --source-path shared_list/src/main/java:error_demo/src/main/java ../../uses/Use.java
      java -cp 'classes:jars/*' Use`,
  },
  'openapi-generator-go': {
    needs: ['java', 'mvn', 'go'],
    script: `
      ${generate('go', 'withGoMod=false,disallowAdditionalPropertiesIfNotPresent=false')}
      ${buildGo('openapi-generator.go')}`,
  },
  'oapi-codegen': {
    needs: ['go'],
    script: `
      ${EACH} mkdir $name
        go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 \\
          -package $name -generate types,client -o $name/client.go ../$name.json
      done
      ${buildGo('oapi-codegen.go')}`,
  },
  'openapi-generator-rust': {
    needs: ['java', 'mvn', 'cargo'],
    script: `${generate('rust', 'supportAsync=false')}
      cargo init --quiet --vcs none --name program
      ${EACH} cargo add --quiet --path $name --no-default-features; done
      cp ../../uses/main.rs src/main.rs
      cargo run --quiet`,
  },
};

run(process.execPath, 'tools/install.ts', 'test/generators');
const made = 'test/generators/made';
mkdirSync(made, { recursive: true });
copyFileSync('src/openapi/shared-list.v1.json', `${made}/shared_list.json`);
copyFileSync('src/openapi/error-demo.v1.json', `${made}/error_demo.json`);
const auth = { issuer: 'https://issuer.example', audience: 'todo-service', secret: randomBytes(64) };
await using list = await startService({ profile: 'shared-list', environment: 'production', auth });
process.env.TODO_LIST_URL = list.baseUrl;
// A slow machine takes more than the ten minutes of other tests' tokens for one of them.
const exp = Math.floor(Date.now() / 1000) + 86_400;
process.env.TODO_TOKEN = signer(auth)({ name: 'Ada', role: 'editor', exp });
const names = process.argv.slice(2);
for (const name of names.length > 0 ? names : Object.keys(GENERATORS)) {
  const generator = GENERATORS[name];
  if (generator === undefined)
    throw new Error(`A generator must be one of ${Object.keys(GENERATORS)}, received ${name}`);
  const missing = generator.needs.filter((program) => outputOf('which', program) === undefined);
  if (missing.length > 0) {
    process.stdout.write(`${name}: left out, it needs ${missing.join(', ')}\n`);
    continue;
  }
  // A todo of the demo can be completed once.
  await using demo = await startService({ profile: 'error-demo', environment: 'production' });
  process.env.TODO_DEMO_URL = demo.baseUrl;
  const folder = `${made}/${name}`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const began = Date.now();
  run('sh', '-ec', `cd ${folder}\n${generator.script}`);
  process.stdout.write(`${name}: right (${Math.round((Date.now() - began) / 1000)} s)\n`);
}
